import { raw } from "hono/html";

/**
 * An icon of Lucide. It only repeats the text beside it, so screen readers skip it.
 *
 * @param svg the icon, as the package `lucide-static` exports it
 */
export function Icon({ svg }: { readonly svg: string }) {
  const body = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1);
  return raw(
    '<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" ' +
      `stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${body.trim()}`,
  );
}
