"""What everything else is written with: errors, files and JSON, numbers and words, work on threads."""
