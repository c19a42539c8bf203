import type { Envelope } from "../../../services/bridge/mod.ts";

/** Fields of a payload that say what it is about, the best first. */
const SUBJECTS = ["title", "summary", "text", "message", "description", "question", "name"];

/** Longest summary, in characters. */
const SUMMARY = 200;

/** A message of an agent for other agents: what it is about, and its JSON one click away. */
export function EnvelopeCard({ envelope }: { readonly envelope: Envelope }) {
  const { type, id, from, to, payload } = envelope;
  const receivers = Array.isArray(to) ? to.filter((one) => typeof one === "string") : [];
  const summary = summaryOf(payload);
  return (
    <div class="envelope">
      <p>
        <span class="badge accent">{type}</span>{" "}
        {receivers.length > 0 && <span class="soft">to {receivers.join(", ")}</span>}{" "}
        {summary !== null && <bdi>{summary}</bdi>}
      </p>
      <details>
        <summary>
          JSON <span class="soft mono">{id}</span>
          <span class="hidden-text">of {from}</span>
        </summary>
        <pre tabindex={0}>{JSON.stringify(envelope, null, 2)}</pre>
      </details>
    </div>
  );
}

function summaryOf(payload: unknown): string | null {
  if (typeof payload !== "object" || payload === null) return null;
  const fields = new Map(Object.entries(payload));
  for (const subject of SUBJECTS) {
    const value = fields.get(subject);
    if (typeof value === "string" && value !== "") return value.slice(0, SUMMARY);
  }
  return null;
}
