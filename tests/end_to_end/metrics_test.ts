import assert from "node:assert/strict";
import { call, ChannelStream, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { runWith } from "../support/running.ts";

/** Has something of everything happen that is counted. */
async function causeFigures(program: Program): Promise<void> {
  const { nick, passphrase } = await registerAgent(program, "coder");
  await using client = await IrcClient.connect(program.irc);
  await client.register({ nick, password: passphrase });
  await client.join("#general");
  await using stream = await ChannelStream.open(program, "general");
  await call(program, "POST", "/v1/channels/general/messages", { text: "hello" });
  assert.equal((await stream.next())?.text, "hello");
  await call(program, "GET", "/v1/agents/nobody");
  await call({ ...program, token: "wrong" }, "GET", "/v1/status");
  const answer = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization: `Bearer ${program.token}` },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "get_status", arguments: {} },
    }),
  });
  assert.equal((await answer.json()).result.isError, false);
}

async function readMetrics(program: Program): Promise<string> {
  const response = await call(program, "GET", "/v1/metrics");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return await response.text();
}

Deno.test("GET /v1/metrics counts what happened", async () => {
  await using program = await startProgram();
  await causeFigures(program);
  const text = await readMetrics(program);
  for (
    const line of [
      'muster_http_requests_total{route="/v1/channels/{channel}/messages",method="POST",status="204"} 1',
      'muster_http_requests_total{route="/v1/agents/{nick}",method="GET",status="404"} 1',
      'muster_http_request_duration_seconds_count{route="/v1/agents/{nick}",method="GET"} 1',
      'muster_http_requests_total{route="/mcp",method="POST",status="200"} 1',
      'muster_mcp_calls_total{tool="get_status",outcome="ok"} 1',
      'muster_login_failures_total{door="bearer",reason="invalid token"} 1',
      'muster_agents{state="active"} 1',
      'muster_agents{state="revoked"} 0',
      "muster_bridge_messages_posted_total 1",
      "muster_bridge_ready 1",
      "muster_irc_channels 1",
      "muster_stream_readers_cut_total 0",
    ]
  ) {
    assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
  }
  for (
    const pattern of [
      /^muster_irc_clients [12]$/m,
      /^muster_irc_messages_received_total [1-9]/m,
      /^muster_irc_messages_sent_total [1-9]/m,
      /^muster_stream_readers [01]$/m,
      /^muster_process_resident_memory_bytes [1-9]/m,
      /^muster_process_cpu_seconds_total 0?\.?[0-9]/m,
      /^# TYPE muster_event_loop_lag_seconds histogram$/m,
      /^muster_process_open_fds [1-9]/m,
      /^muster_engine_processes 0$/m,
      /^muster_engine_processes_memory_bytes 0$/m,
      /^muster_child_processes_cpu_seconds_total [0-9]/m,
      /^muster_disk_free_bytes\{folder="data"\} [1-9]/m,
      /^muster_disk_free_bytes\{folder="projects"\} [1-9]/m,
      /^muster_database_bytes [1-9]/m,
      /^muster_repositories_bytes 0$/m,
      /^muster_removed_repositories_bytes 0$/m,
      /^muster_mirrors_failing 0$/m,
      /^muster_webhooks_failing 0$/m,
      /^muster_landings 0$/m,
      /^muster_check_jobs_queued 0$/m,
      /^muster_runners 0$/m,
      /^muster_claims 0$/m,
      /^muster_worker_calls\{worker="repositories",state="waiting"\} 0$/m,
      /^muster_table_rows\{table="check_history"\} 0$/m,
      /^muster_retention_seconds\{table="projects"\} 7776000$/m,
      /^muster_quota\{key="limits.pushes_per_hour"\} 1200$/m,
      /^muster_quota_used\{key="limits.account_bytes"\} 0$/m,
      /^muster_quota_refusals_total\{key="limits.project_bytes"\} 0$/m,
    ]
  ) {
    assert.match(text, pattern);
  }
});

Deno.test("promtool accepts the metrics", peer("promtool"), async () => {
  await using program = await startProgram();
  await causeFigures(program);
  const checked = await runWith("promtool", ["check", "metrics"], await readMetrics(program));
  assert.deepEqual(checked, { code: 0, stdout: "", stderr: "" });
});
