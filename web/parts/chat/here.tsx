import { isRobot } from "./robots.ts";
import { Bot, Users } from "lucide-static";
import type { Present } from "../../../services/chat/chats/mod.ts";
import { colorOf } from "../../elements/chat_rules.ts";
import type { Visit } from "../../visit.ts";
import { Icon } from "../icon.tsx";

/** Most nicks that a page lists. */
export const MAX_HERE = 500;

/** What the signs of statuses mean. */
const SIGNS: Readonly<Record<string, string>> = { "@": "operator", "+": "voice" };

/** Who is in a channel, operators first. */
export function Here({ visit, present }: {
  readonly visit: Visit;
  readonly present: readonly Present[];
}) {
  const shown = present.slice(0, MAX_HERE);
  return (
    <details class="here" open>
      <summary>
        <Icon svg={Users} /> <span data-here-count>{present.length}</span> here
      </summary>
      <input
        type="search"
        data-here-filter
        hidden
        aria-label="Filter who is here"
        placeholder="Filter"
      />
      <template data-agent>
        <Icon svg={Bot} />
      </template>
      <ul data-here>
        {shown.map(({ nick, sign }) => (
          <li data-nick={nick} data-sign={sign}>
            <a href={`/messages/${encodeURIComponent(nick)}`} class={`color-${colorOf(nick)}`}>
              <span class="sign" title={SIGNS[sign]}>{sign}</span>
              <bdi>{nick}</bdi>
              {isRobot(visit.services, nick) && <Icon svg={Bot} />}
            </a>
          </li>
        ))}
      </ul>
      {present.length > shown.length && (
        <p class="soft small">and {present.length - shown.length} more</p>
      )}
    </details>
  );
}
