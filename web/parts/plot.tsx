import type { Point } from "../../services/operation/metrics/mod.ts";

/** The size of a plot in the units of its drawing. */
const WIDTH = 480;
const HEIGHT = 120;

/** One line of a plot. */
export interface PlotLine {
  readonly name: string;
  readonly points: readonly Point[];
}

/** Rows of the table beside a plot. */
const ROWS = 12;

/** Figures over time as a drawing, and as a table for those who do not see it. */
export function Plot({ title, lines, format }: {
  readonly title: string;
  readonly lines: readonly PlotLine[];
  /** A value with its unit. */
  readonly format: (value: number) => string;
}) {
  const values = lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const top = niceTop(Math.max(0, ...values));
  const latest = lines.map(({ name, points }) => {
    const value = points.findLast((point) => point.value !== null)?.value ?? null;
    const words = value === null ? "nothing yet" : format(value);
    return lines.length > 1 ? `${name} ${words}` : words;
  });
  return (
    <figure class="plot">
      <figcaption>
        <b>{title}</b> {latest.map((words, index) => (
          <span class="soft legend">
            {lines.length > 1 && (
              <svg class="swatch" viewBox="0 0 20 4" aria-hidden="true">
                <path class={`line line-${index}`} d="M0 2H20" />
              </svg>
            )}
            {words}
          </span>
        ))}
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}: ${latest.join(", ")}`}
        preserveAspectRatio="none"
      >
        {[0.25, 0.5, 0.75].map((part) => (
          <line class="grid" x1="0" x2={WIDTH} y1={HEIGHT * part} y2={HEIGHT * part} />
        ))}
        {lines.map(({ points }, index) => (
          <path class={`line line-${index}`} d={pathOf(points, top)} />
        ))}
      </svg>
      <div class="plot-scale soft small">
        <span>{spanOf(lines[0]?.points ?? [])}</span>
        <span>top: {format(top)}</span>
      </div>
      <details>
        <summary class="small">As a table</summary>
        <PlotTable title={title} lines={lines} format={format} />
      </details>
    </figure>
  );
}

function PlotTable({ title, lines, format }: {
  readonly title: string;
  readonly lines: readonly PlotLine[];
  readonly format: (value: number) => string;
}) {
  const rows = rowsOf(lines);
  return (
    <table>
      <caption class="hidden-text">{title}</caption>
      <thead>
        <tr>
          <th>Time (UTC)</th>
          {lines.map(({ name }) => <th>{name}</th>)}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ time, values }) => (
          <tr>
            <td class="mono">{new Date(time).toISOString().slice(11, 19)}</td>
            {values.map((value) => <td class="mono">{value === null ? "—" : format(value)}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Evenly spread points of all lines, newest first. */
function rowsOf(lines: readonly PlotLine[]) {
  const points = lines[0]?.points ?? [];
  const step = Math.max(1, Math.ceil(points.length / ROWS));
  return points.flatMap(({ time }, index) =>
    (points.length - 1 - index) % step === 0
      ? [{ time, values: lines.map((line) => line.points[index]?.value ?? null) }]
      : []
  ).toReversed();
}

/** The path of a line; a gap begins a new part of it. */
function pathOf(points: readonly Point[], top: number): string {
  const last = Math.max(1, points.length - 1);
  let isDrawing = false;
  return points.map(({ value }, index) => {
    if (value === null) {
      isDrawing = false;
      return "";
    }
    const x = (index / last * WIDTH).toFixed(1);
    const y = (HEIGHT - value / top * HEIGHT).toFixed(1);
    const part = isDrawing ? `L${x} ${y}` : `M${x} ${y}h0`;
    isDrawing = true;
    return part;
  }).join("");
}

/** A round number at or above the highest value. */
function niceTop(highest: number): number {
  if (highest <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(highest));
  const step = [1, 2, 5, 10].find((factor) => factor * unit >= highest) ?? 10;
  return step * unit;
}

function spanOf(points: readonly Point[]): string {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return "no samples yet";
  const minutes = Math.round((last.time - first.time) / 60_000);
  return minutes <= 1 ? "the last minute" : `the last ${minutes} minutes`;
}
