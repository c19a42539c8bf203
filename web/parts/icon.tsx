import { raw } from "hono/html";

/** How Lucide draws its icons. */
const DRAWN = 'viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" ' +
  'stroke-linecap="round" stroke-linejoin="round"';

/**
 * An icon of Lucide. It only repeats the text beside it, so screen readers skip it.
 *
 * @param svg the icon, as the package `lucide-static` exports it
 */
export function Icon({ svg }: { readonly svg: string }) {
  return raw(`<svg class="icon" ${DRAWN} aria-hidden="true">${linesOf(svg)}</svg>`);
}

/**
 * Draws icons once, for a list that shows each of them many times.
 *
 * @param icons the icons by the names that {@linkcode IconOf} takes
 */
export function IconSet({ icons }: { readonly icons: Readonly<Record<string, string>> }) {
  const symbols = Object.entries(icons).map(([name, svg]) =>
    `<symbol id="icon-${name}" ${DRAWN}>${linesOf(svg)}</symbol>`
  );
  return raw(`<svg class="icon-set" aria-hidden="true">${symbols.join("")}</svg>`);
}

/** An icon of the page's {@linkcode IconSet}, in few bytes. */
export function IconOf({ name }: { readonly name: string }) {
  return raw(`<svg class="icon" aria-hidden="true"><use href="#icon-${name}"/></svg>`);
}

function linesOf(svg: string): string {
  const start = svg.indexOf(">", svg.indexOf("<svg")) + 1;
  return svg.slice(start, svg.lastIndexOf("</svg>")).split("\n").map((line) => line.trim()).join(
    "",
  );
}
