"use strict";

/* About how many pixels the labels left of a chart take: a legend begins where they end. */
function leftOf(spec, width) {
  const y = [spec, ...(spec.layer ?? [])].map(({ encoding }) => encoding?.y).find((channel) => channel?.axis);
  if (y?.type !== "nominal") return 60;
  const letters = Math.max(0, ...(Array.isArray(y.sort) ? y.sort : []).map((name) => name.length));
  return Math.min(width * 0.4, Math.max(letters * 7, y.axis.minExtent ?? 0));
}

/* Labels that have no room, each broken near its middle. */
function brokenLabels(axis, names, limit) {
  const lines = names.map((name) => {
    const middle = name.length * 6.4 > limit ? name.indexOf(" ", name.length / 2 - 3) : -1;
    return [name, middle > 0 ? [name.slice(0, middle), name.slice(middle + 1)] : name];
  });
  if (lines.some(([, line]) => Array.isArray(line))) axis.labelExpr = `(${JSON.stringify(Object.fromEntries(lines))})[datum.label]`;
  return Boolean(axis.labelExpr);
}

/* Pictures that are also drawn into files have a fixed width; on a page a chart takes what there is: labels left of it
   at most two fifths, and as many columns of a legend as have room for its longest label. */
function fit(spec, width) {
  spec.width = width;
  spec.autosize = { type: "fit-x", contains: "padding" };
  if (spec.title) spec.title = { ...(typeof spec.title === "string" ? { text: spec.title } : spec.title), limit: width - 10 };
  const encodings = [spec, ...(spec.layer ?? [])].map(({ encoding }) => encoding ?? {});
  const legends = encodings.flatMap((encoding) => Object.values(encoding)).filter((channel) => channel.legend);
  // Those of one field are one, those of several stand beside each other.
  const room = (width - 20 - leftOf(spec, width)) / new Set(legends.map(({ field }) => field)).size;
  for (const { legend, scale } of legends) {
    const letters = Math.max(4, ...(legend.values ?? scale?.domain ?? []).map((name) => name.length));
    legend.columns = Math.max(1, Math.min(5, Math.floor(room / (letters * 7 + 30))));
    legend.labelLimit = room - 20;
  }
  for (const encoding of encodings) {
    const title = encoding.x?.axis?.title;
    if (typeof title === "string" && title.length * 7 > width * 0.5) {
      const middle = title.indexOf(" ", title.length / 2);
      if (middle > 0) encoding.x.axis.title = [title.slice(0, middle), title.slice(middle + 1)];
    }
    if (encoding.y?.axis) {
      const limit = Math.round(width * 0.4);
      encoding.y.axis.labelLimit = Math.min(encoding.y.axis.labelLimit ?? limit, limit);
      const names = encoding.y.type === "nominal" && Array.isArray(encoding.y.sort) ? encoding.y.sort : [];
      // Two lines of a label need more room than one.
      if (brokenLabels(encoding.y.axis, names, limit)) spec.height = Math.max(spec.height, 36 * names.length);
      if (encoding.y.axis.minExtent) encoding.y.axis.minExtent = Math.min(encoding.y.axis.minExtent, limit);
    }
  }
}
