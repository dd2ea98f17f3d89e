"use strict";

/* Pictures that are also drawn into files have a fixed width; on a page, labels left of the bars and the legend below
   take what a narrow one can give. */
function fit(spec, width) {
  const room = Math.min(210, Math.round(width / 2));
  spec.width = Math.max(120, width - room);
  if (spec.title) spec.title = { ...(typeof spec.title === "string" ? { text: spec.title } : spec.title), limit: width - 10 };
  for (const { encoding } of [spec, ...(spec.layer ?? [])]) {
    const { color, y } = encoding ?? {};
    if (color?.legend) color.legend.columns = Math.max(1, Math.min(5, Math.floor((width - room) / 130)));
    if (y?.axis) y.axis.labelLimit = room - 15;
  }
}
