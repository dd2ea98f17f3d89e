const page = JSON.parse(document.getElementById("report-data").textContent);

async function drawAll() {
  if (!window.vegaEmbed) return; // a page without charts says so
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  for (const chart of page.charts) {
    const element = document.getElementById(chart.id);
    const spec = structuredClone(chart.spec);
    fit(spec, element.clientWidth);
    await vegaEmbed(element, spec, {
      actions: false,
      config: page.theme,
      defaultStyle: false,
      mode: "vega-lite",
      renderer: "svg",
      tooltip: { theme: dark ? "dark" : "light" },
    });
  }
  document.documentElement.dataset.drawn = "yes";
}

drawAll();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
let wide = document.documentElement.clientWidth;
addEventListener("resize", () => {
  if (document.documentElement.clientWidth !== wide) {
    wide = document.documentElement.clientWidth;
    drawAll();
  }
});
