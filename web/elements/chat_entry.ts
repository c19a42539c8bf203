import { fetchPage } from "./live_parts.ts";

/** What says whether the reader is in the channel. */
const PARTS = ["[data-membership]", "[data-own-places]"];

/**
 * After what may have been the first message of the reader in a channel: shows that they are in it,
 * beside the channel's name and in the sidebar.
 */
export async function showEntry(chat: HTMLElement): Promise<void> {
  const membership = chat.querySelector<HTMLElement>("[data-membership]");
  if (membership?.dataset["membership"] !== "out") return;
  // The page of a channel that nobody was in has neither its messages nor its stream.
  if (chat.dataset["empty"] !== undefined) return location.reload();
  const page = await fetchPage().catch(() => null);
  for (const selector of PARTS) {
    const fresh = page?.querySelector<HTMLElement>(selector) ?? null;
    const part = document.querySelector<HTMLElement>(selector);
    if (fresh !== null && part !== null) part.replaceWith(document.adoptNode(fresh));
  }
}
