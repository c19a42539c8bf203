import type { PropsWithChildren } from "hono/jsx";

/** The parts of the settings. */
const PARTS = [
  ["tokens", "Tokens"],
  ["policies", "Bots and policies"],
  ["llm", "LLM backends"],
  ["usage", "Use of models"],
  ["bans", "Bans"],
  ["clients", "IRC clients"],
  ["webhooks", "Webhooks"],
  ["runners", "Runners"],
  ["nodes", "Nodes"],
  ["configuration", "Configuration"],
  ["doctor", "Doctor"],
] as const;

/** The name of a part of the settings. */
export type SettingsPart = (typeof PARTS)[number][0];

/** The head of every page of the settings, with the way to the others. */
export function SettingsFrame({ part, children }: PropsWithChildren<{
  readonly part: SettingsPart;
}>) {
  const [, title] = PARTS.find(([name]) => name === part) ?? ["", "Settings"];
  return (
    <>
      <nav aria-label="Settings">
        <ul class="tabs settings-tabs">
          {PARTS.map(([name, words]) => (
            <li>
              <a
                href={`/settings/${name}`}
                aria-current={name === part ? "page" : undefined}
              >
                {words}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <h1>{title}</h1>
      {children}
    </>
  );
}
