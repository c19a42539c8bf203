/** Notifications of the system: for messages that name the reader, while no page is in sight. */

/** Where the browser keeps whether the reader wants them. */
const KEY = "muster_notify";

/**
 * Shows a notification, if the reader wants that and does not look at the page. Several pages show
 * one.
 *
 * @param place leads there
 */
export function notify(title: string, body: string, place?: HTMLElement): void {
  if (!document.hidden || !isWanted()) return;
  const shown = new Notification(title, { body: body.slice(0, 200), tag: `${title} ${body}` });
  shown.addEventListener("click", () => {
    focus();
    place?.click();
    shown.close();
  });
}

/** Makes the button work that turns notifications on and off. */
export function startNotify(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-notify]");
  if (button === null || !("Notification" in globalThis) || !isSecureContext) return;
  button.hidden = false;
  const show = () => button.setAttribute("aria-pressed", String(isWanted()));
  show();
  button.addEventListener("click", async () => {
    if (isWanted()) localStorage.removeItem(KEY);
    else if (await Notification.requestPermission() === "granted") localStorage.setItem(KEY, "on");
    show();
  });
}

function isWanted(): boolean {
  return "Notification" in globalThis && Notification.permission === "granted" &&
    localStorage.getItem(KEY) === "on";
}
