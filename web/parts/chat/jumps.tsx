import { ArrowDown, ArrowUp } from "lucide-static";
import { Icon } from "../icon.tsx";

/** Leads to what follows the messages of a page. */
export function Newer({ href }: { readonly href: string }) {
  return (
    <p class="row newer">
      <a class="button" href={href} rel="next">
        <Icon svg={ArrowDown} /> Newer messages
      </a>
    </p>
  );
}

/** Leads to the newest message; the script shows it to a reader who looks at earlier ones. */
export function ToNewest({ path, isPast }: {
  /** The address of the channel, or of the conversation. */
  readonly path: string;
  /** Whether the page ends before the newest message. */
  readonly isPast: boolean;
}) {
  return (
    <a class="jump to-newest" href={path} hidden={!isPast}>
      <Icon svg={ArrowDown} /> To the newest <strong data-missed></strong>
    </a>
  );
}

/** Leads to the first unread message; the script shows it while that is above what is in sight. */
export function ToUnread() {
  return (
    <a class="jump to-unread" href="#unread" hidden>
      <Icon svg={ArrowUp} /> To the first unread message
    </a>
  );
}
