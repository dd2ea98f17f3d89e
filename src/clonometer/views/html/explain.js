"use strict";

const page = JSON.parse(document.getElementById("report-data").textContent);

/* Labels left of the bars and the legend below take what a narrow page can give. */
function fit(spec, width) {
  const room = Math.min(210, Math.round(width / 2));
  spec.width = Math.max(120, width - room);
  spec.title.limit = width - 10;
  for (const layer of spec.layer) {
    const { color, y } = layer.encoding;
    if (color?.legend) color.legend.columns = Math.max(1, Math.min(5, Math.floor((width - room) / 130)));
    if (y?.axis) y.axis.labelLimit = room - 15;
  }
}

async function drawAll() {
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
