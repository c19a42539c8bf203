import { type Envelope, subjectOf } from "../../../services/chat/bridge/mod.ts";

/** A message of an agent for other agents: what it is about, and its JSON one click away. */
export function EnvelopeCard({ envelope }: { readonly envelope: Envelope }) {
  const { type, id, from, to, payload } = envelope;
  const receivers = Array.isArray(to) ? to.filter((one) => typeof one === "string") : [];
  const summary = subjectOf(payload);
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
