import type { AnsweredRequest, Metrics } from "../../services/operation/metrics/mod.ts";

/** Metrics that record their calls, without times. */
export class TestMetrics implements
  Pick<
    Metrics,
    "requestAnswered" | "toolCalled" | "streamOpened" | "streamClosed" | "render"
  > {
  /** As `GET /v1/agents/{nick} 200`. */
  readonly requests: string[] = [];
  /** As `get_status ok`. */
  readonly calls: string[] = [];
  streams = 0;

  requestAnswered({ method, route, status }: AnsweredRequest): void {
    this.requests.push(`${method} ${route} ${status}`);
  }
  toolCalled(tool: string, outcome: string): void {
    this.calls.push(`${tool} ${outcome}`);
  }
  streamOpened(): void {
    this.streams++;
  }
  streamClosed(): void {
    this.streams--;
  }
  render(): string {
    return "";
  }
}
