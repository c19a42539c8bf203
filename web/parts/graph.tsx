import type { z } from "zod";
import type { timelineSchema } from "../../services/work/code/schemas.ts";

export type GraphRows = NonNullable<z.output<typeof timelineSchema>["graph"]>;

/** Sizes in pixels: of a lane, of a dot, and where the dot stands in its row. */
const [LANE, DOT, MIDDLE] = [12, 4, 20];

/** Most lanes that are drawn. */
const MAX_LANES = 14;

/** Colors of lanes; they repeat. */
const COLORS = 6;

/** How many lanes a graph has, of which {@link MAX_LANES} are drawn at most. */
export function lanesOf(rows: GraphRows): number {
  const lanes = rows.flatMap(({ lane, passing, links }) => [
    lane,
    ...passing,
    ...links.map((link) => link.lane),
  ]);
  const highest = lanes.reduce((most, lane) => Math.max(most, lane), 0);
  return Math.min(highest, MAX_LANES - 1) + 1;
}

/**
 * The lines beside one check-in. The drawing is as high as its row; only its width is fixed.
 *
 * @param above the row above, whose lines come down into this one
 */
export function GraphCell({ row, above, lanes, isMerge, isLeaf }: {
  readonly row: GraphRows[number];
  readonly above: GraphRows[number] | undefined;
  readonly lanes: number;
  readonly isMerge: boolean;
  readonly isLeaf: boolean;
}) {
  const { lane, passing, links } = row;
  const x = centre(lane);
  const comes = above !== undefined && linesBelow(above).has(lane);
  return (
    <svg class="graph" width={lanes * LANE + 2} height="100%" aria-hidden="true">
      {passing.map((other) => (
        <line class={colorOf(other)} x1={centre(other)} x2={centre(other)} y1="0" y2="100%" />
      ))}
      {comes && <line class={colorOf(lane)} x1={x} x2={x} y1="0" y2={MIDDLE} />}
      {links.map((link) => {
        const down = centre(link.lane);
        const bend = link.lane === lane ? MIDDLE : MIDDLE + LANE;
        const isOwn = link.lane === lane;
        return (
          <>
            {!isOwn && <line class={colorOf(link.lane)} x1={x} x2={down} y1={MIDDLE} y2={bend} />}
            <line class={colorOf(link.lane)} x1={down} x2={down} y1={bend} y2="100%" />
          </>
        );
      })}
      <circle
        class={`${colorOf(lane)}${isLeaf ? " leaf" : ""}`}
        cx={x}
        cy={MIDDLE}
        r={isMerge ? DOT - 1 : DOT}
      />
    </svg>
  );
}

/** The lanes of the lines that leave a row at its end. */
function linesBelow({ passing, links }: GraphRows[number]): Set<number> {
  return new Set([...passing, ...links.map(({ lane }) => lane)]);
}

function centre(lane: number): number {
  return Math.min(lane, MAX_LANES - 1) * LANE + LANE / 2 + 1;
}

function colorOf(lane: number): string {
  return `lane-${lane % COLORS}`;
}
