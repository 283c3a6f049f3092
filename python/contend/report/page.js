// Draws the charts of a report and connects them to the page's controls. Runs without the network.
(() => {
  "use strict";

  const page = JSON.parse(document.getElementById("page-data").textContent);
  const views = new Map();
  const state = { hidden: { curves: [], categories: [] }, curve: null, counter: null, window: null, messages: true };
  const element = (id) => document.getElementById(id);

  // ---- charts ----------------------------------------------------------------------------------------------------

  // Names of the data that a specification uses.
  function namesOfData(specification) {
    const names = new Set();
    const look = (value) => {
      if (Array.isArray(value)) {
        value.forEach(look);
      } else if (value && typeof value === "object") {
        if (value.data && typeof value.data.name === "string") names.add(value.data.name);
        Object.entries(value).forEach(([key, entry]) => key !== "datasets" && look(entry));
      }
    };
    look(specification);
    return [...names];
  }

  async function draw(place, name) {
    const specification = structuredClone(page.charts[name]);
    specification.datasets = Object.fromEntries(namesOfData(specification).map((data) => [data, page.data[data] ?? []]));
    views.get(place.id)?.finalize();
    try {
      const drawn = await vegaEmbed(place, specification, {
        renderer: "svg",
        actions: false,
        ast: true, // expressions are interpreted, so that the page's policy may forbid eval
        tooltip: { theme: "custom", disableDefaultStyle: true },
      });
      drawn.view.logLevel(1);
      views.set(place.id, { view: drawn.view, finalize: () => drawn.finalize(), chart: name });
      place.dataset.drawn = name;
    } catch (error) {
      place.classList.add("failed");
      place.textContent = "This chart cannot be drawn here; its numbers are in the tables.";
      console.error(`chart ${name}: ${error}`);
    }
  }

  // Sets signals of all charts that have them.
  function set(values, only = () => true) {
    for (const { view, chart } of views.values()) {
      const known = (page.charts[chart].params ?? []).map((parameter) => parameter.name);
      const wanted = Object.entries(values).filter(([name]) => known.includes(name));
      if (only(chart) && wanted.length) {
        wanted.forEach(([name, value]) => view.signal(name, value));
        view.runAsync();
      }
    }
  }

  // ---- legends: a click hides or shows what they name ----------------------------------------------------------------

  const isCurveChart = (chart) => chart.startsWith("rate") || chart === "counters";
  const isBudget = (chart) => chart.startsWith("budget");

  function connectLegends() {
    for (const button of document.querySelectorAll("button.key")) {
      button.addEventListener("click", () => {
        const pressed = button.getAttribute("aria-pressed") === "true";
        button.setAttribute("aria-pressed", String(!pressed));
        const keys = [...button.parentElement.querySelectorAll('[aria-pressed="false"]')].map((key) => key.dataset.key);
        const curves = button.classList.contains("line");
        state.hidden[curves ? "curves" : "categories"] = keys;
        set({ hidden: keys }, curves ? isCurveChart : isBudget);
      });
    }
  }

  function connectChoices() {
    for (const select of document.querySelectorAll("select[data-choice]")) {
      select.addEventListener("change", () => {
        state[select.dataset.choice] = select.value;
        set({ [select.dataset.choice]: select.value });
      });
    }
  }

  // ---- the other scale of the rate ---------------------------------------------------------------------------------

  function connectScale() {
    const box = element("other-scale");
    if (!box) return;
    const layers = page.charts["rate-other"].layer;
    const isLog = layers.some((layer) => layer.encoding?.y?.scale?.type === "log");
    element("other-scale-text").textContent = isLog ? "logarithmic scale" : "linear scale, from zero";
    box.addEventListener("change", async () => {
      await draw(element("chart-rate"), box.checked ? "rate-other" : "rate");
      set({ hidden: state.hidden.curves }, isCurveChart);
    });
  }

  // ---- time line -------------------------------------------------------------------------------------------------------

  const LEAST_SHARE = 1 / 500;

  function parameter(chart, name) {
    return page.charts[chart].params.find((entry) => entry.name === name)?.value;
  }

  function connectTimeline() {
    if (!page.charts.timeline) return;
    const all = [parameter("timeline", "time_begin"), parameter("timeline", "time_end")];
    const length = all[1] - all[0];
    let [from, to] = all;
    const buttons = Object.fromEntries([...document.querySelectorAll("[data-zoom]")].map((b) => [b.dataset.zoom, b]));
    const digits = Math.max(0, Math.min(3, 4 - Math.floor(Math.log10(length))));

    function show(begin, end) {
      const size = Math.min(length, Math.max(length * LEAST_SHARE, end - begin));
      from = Math.min(Math.max(begin, all[0]), all[1] - size);
      to = from + size;
      set({ time_begin: from, time_end: to });
      element("zoom-range").textContent = `${from.toFixed(digits)} to ${to.toFixed(digits)} us`;
      buttons.in.disabled = size <= length * LEAST_SHARE * 1.001;
      buttons.out.disabled = buttons.all.disabled = size >= length * 0.999;
      buttons.earlier.disabled = from <= all[0] + length * 1e-9;
      buttons.later.disabled = to >= all[1] - length * 1e-9;
    }

    const actions = {
      in: (centre, size) => show(centre - size / 4, centre + size / 4),
      out: (centre, size) => show(centre - size, centre + size),
      earlier: (_, size) => show(from - size / 2, to - size / 2),
      later: (_, size) => show(from + size / 2, to + size / 2),
      all: () => show(...all),
    };
    for (const [name, button] of Object.entries(buttons)) {
      button.addEventListener("click", () => actions[name]((from + to) / 2, to - from));
    }
    element("messages").addEventListener("change", (event) => set({ with_messages: event.target.checked }));
    show(...all);
  }

  // ---- theme: as the system has it, light, or dark -----------------------------------------------------------------

  const THEMES = ["auto", "light", "dark"];

  function connectTheme() {
    const button = element("theme");
    const remember = (theme) => {
      try {
        localStorage.setItem("contend-theme", theme);
      } catch {
        // A page from a file may have no storage.
      }
    };
    const recall = () => {
      try {
        return localStorage.getItem("contend-theme");
      } catch {
        return null;
      }
    };
    const apply = (theme) => {
      if (theme === "auto") {
        delete document.documentElement.dataset.theme;
      } else {
        document.documentElement.dataset.theme = theme;
      }
      button.textContent = `Theme: ${theme}`;
      button.dataset.is = theme;
    };
    apply(THEMES.includes(recall()) ? recall() : "auto");
    button.addEventListener("click", () => {
      const next = THEMES[(THEMES.indexOf(button.dataset.is) + 1) % THEMES.length];
      apply(next);
      remember(next);
    });
  }

  // ---- paper: charts as wide as the page, everything unfolded ------------------------------------------------------

  const PAPER_WIDTH = 690;

  function connectPrinting() {
    let folded = [];
    const resize = (widthOf) => {
      for (const [id, { view }] of views) {
        const width = widthOf(element(id));
        if (width > 0) view.width(width).run();
      }
    };
    window.addEventListener("beforeprint", () => {
      folded = [...document.querySelectorAll("details:not([open])")];
      folded.forEach((details) => { details.open = true; });
      resize(() => PAPER_WIDTH);
    });
    window.addEventListener("afterprint", () => {
      folded.forEach((details) => { details.open = false; });
      resize((place) => place.clientWidth);
    });
  }

  async function start() {
    connectTheme();
    const places = [...document.querySelectorAll(".plot")];
    for (const place of places) await draw(place, place.dataset.chart);
    connectLegends();
    connectChoices();
    connectScale();
    connectTimeline();
    connectPrinting();
    document.documentElement.dataset.ready = "true";
  }

  start();
})();
