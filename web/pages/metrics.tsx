import { getStatus } from "../../services/operation/metrics/operations.ts";
import { definePage, type View } from "../page.ts";
import { Plot } from "../parts/plot.tsx";
import { Time } from "../parts/time.tsx";
import type { Visit } from "../visit.ts";

/** Figures of the last two hours as plots. */
export const page = definePage({ opens: "admin", show, json: () => "/v1/status" });

async function show(visit: Visit): Promise<View> {
  const { metricHistory: history, status } = visit.services;
  const { agents, started, status: state } = await visit.invokeOnServer(getStatus, {});
  const missing = status.missing();
  const body = (
    <>
      <div class="page-head">
        <h1>Metrics</h1>
        <p class="soft">
          {agents} {agents === 1 ? "agent" : "agents"}, started <Time at={started} />{" "}
          {state === "ok" && missing.length === 0
            ? <span class="badge good">everything is up</span>
            : <span class="badge bad">{missing.join(", ") || state}</span>}
        </p>
      </div>
      <div class="plots">
        <Plot
          title="HTTP requests"
          lines={[{ name: "Requests", points: history.rates("http_requests_total") }]}
          format={perSecond}
        />
        <Plot
          title="Time of answers"
          lines={[
            { name: "p50", points: history.quantiles("http_request_duration_seconds", 0.5) },
            { name: "p99", points: history.quantiles("http_request_duration_seconds", 0.99) },
          ]}
          format={milliseconds}
        />
        <Plot
          title="MCP calls"
          lines={[{ name: "Calls", points: history.rates("mcp_calls_total") }]}
          format={perSecond}
        />
        <Plot
          title="Open connections"
          lines={[
            { name: "IRC", points: history.values("irc_connections") },
            { name: "HTTP", points: history.values("http_connections") },
            { name: "Streams", points: history.values("stream_readers") },
          ]}
          format={whole}
        />
        <Plot
          title="Calls of models"
          lines={[{ name: "Calls", points: history.rates("llm_calls_total") }]}
          format={perSecond}
        />
        <Plot
          title="Refused logins"
          lines={[{ name: "Refused", points: history.rates("login_failures_total") }]}
          format={perSecond}
        />
        <Plot
          title="Processor"
          lines={[{ name: "Cores", points: history.rates("process_cpu_seconds_total") }]}
          format={percent}
        />
        <Plot
          title="Memory"
          lines={[
            { name: "Resident", points: history.values("process_resident_memory_bytes") },
            { name: "Heap", points: history.values("process_heap_bytes") },
          ]}
          format={megabytes}
        />
        <Plot
          title="Delay of the event loop, p99"
          lines={[{ name: "p99", points: history.quantiles("event_loop_lag_seconds", 0.99) }]}
          format={milliseconds}
        />
      </div>
      <p class="soft small">
        A sample every 15 seconds; a start begins anew. Prometheus reads everything, by route, tool
        and backend, from <code>/v1/metrics</code> with a token.
      </p>
    </>
  );
  return { title: "Metrics", body };
}

function perSecond(value: number): string {
  return `${rounded(value)}/s`;
}

function milliseconds(seconds: number): string {
  return `${rounded(seconds * 1000)} ms`;
}

function percent(cores: number): string {
  return `${rounded(cores * 100)} %`;
}

function megabytes(bytes: number): string {
  return `${rounded(bytes / 1_000_000)} MB`;
}

function whole(value: number): string {
  return String(Math.round(value));
}

function rounded(value: number): string {
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toPrecision(2);
}
