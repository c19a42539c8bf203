import { ApiRoutes } from "../api_routes.ts";
import { callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { type Export, type Ledger, readLogs, readSpans } from "../../services/models/ledger/mod.ts";
import { errors, json, jsonRequest } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";
import { TICKET_HEADER, ticketHeaders } from "./completions.ts";

const resources = z.array(z.unknown()).max(1000).optional();

const exportedSchema = z.object({
  partialSuccess: z.looseObject({ errorMessage: z.string() }).optional(),
});

const ONCE = "Nothing else is kept. A call counts once, however often it is sent.";

const logs = specialRoute("POST /v1/llm/otlp/v1/logs", {
  operationId: "reportModelLogs",
  summary: "Report calls of models that did not go through the gateway: OTLP's logs, in JSON",
  description: "The events of Claude Code, Codex, Gemini CLI and Qwen Code that tell what a call " +
    `took. ${ONCE}`,
  request: {
    headers: ticketHeaders,
    body: jsonRequest(z.looseObject({ resourceLogs: resources }), { resourceLogs: [] }),
  },
  responses: {
    200: json(exportedSchema, "`partialSuccess` names calls that do not count"),
    ...errors(400, 404, 413, 429, 503),
  },
});

const spans = specialRoute("POST /v1/llm/otlp/v1/traces", {
  operationId: "reportModelSpans",
  summary: "Report calls of models that did not go through the gateway: OTLP's spans, in JSON",
  description: "The spans that follow the conventions for generative AI, except for those of " +
    `clients whose logs tell the same. ${ONCE}`,
  request: {
    headers: ticketHeaders,
    body: jsonRequest(z.looseObject({ resourceSpans: resources }), { resourceSpans: [] }),
  },
  responses: {
    200: json(exportedSchema, "`partialSuccess` names calls that do not count"),
    ...errors(400, 404, 413, 429, 503),
  },
});

const metrics = specialRoute("POST /v1/llm/otlp/v1/metrics", {
  operationId: "reportModelMetrics",
  summary: "Takes OTLP's metrics and reads nothing in them, for clients that cannot leave them out",
  request: { body: jsonRequest(z.looseObject({}), { resourceMetrics: [] }) },
  responses: { 200: json(z.object({}), "Nothing is kept"), ...errors(400, 413, 429, 503) },
});

/** `/v1/llm/otlp…`: the endpoint for exporters of OpenTelemetry. */
export function otlpRoutes(ledger: Pick<Ledger, "report">) {
  return new ApiRoutes()
    .openapi(logs, async (context) => {
      const read = readLogs(context.req.valid("json").resourceLogs ?? []);
      const { [TICKET_HEADER]: ticket } = context.req.valid("header");
      await ledger.report(callerOf(context), read.calls, ticket ?? null);
      return context.json(exported("rejectedLogRecords", read), 200);
    })
    .openapi(spans, async (context) => {
      const read = readSpans(context.req.valid("json").resourceSpans ?? []);
      const { [TICKET_HEADER]: ticket } = context.req.valid("header");
      await ledger.report(callerOf(context), read.calls, ticket ?? null);
      return context.json(exported("rejectedSpans", read), 200);
    })
    .openapi(metrics, (context) => context.json({}, 200));
}

/** @see https://opentelemetry.io/docs/specs/otlp/#partial-success-1 */
function exported(field: string, { rejected }: Export): z.output<typeof exportedSchema> {
  if (rejected === 0) return {};
  const errorMessage = "Calls without plausible numbers, or beyond the most of one export";
  // An int64 is a text in the JSON of OTLP.
  return { partialSuccess: { [field]: String(rejected), errorMessage } };
}
