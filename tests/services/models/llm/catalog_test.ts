import assert from "node:assert/strict";
import { keyVariableProblem } from "../../../../services/models/llm/catalog.ts";

const SECRETS =
  "MUSTER_API_TOKEN muster_api_token Muster_Token_File MUSTER_DATABASE_URL DATABASE_URL PGPASSWORD " +
  "PROD_DATABASE_URI SENTRY_DSN OTEL_EXPORTER_OTLP_HEADERS MCP_HEADERS GITHUB_TOKEN NPM_TOKEN " +
  "SSH_AUTH_SOCK HTTPS_PROXY https_proxy PATH HOME USER AWS_SECRET_ACCESS_KEY REDIS_URL SMTP_PASSWORD " +
  "GH_TOKEN ACTIONS_RUNTIME_TOKEN JWT_SECRET SECRET_KEY_BASE STRIPE_SECRET_KEY SLACK_BOT_TOKEN COOKIE SUDO_USER " +
  "AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS TOKEN_FILE API_KEY_PATH PRIVATE_KEY AWS_SESSION_TOKEN";

Deno.test("a backend takes its key from no other secret of the environment", () => {
  for (const name of SECRETS.split(" ")) {
    assert.match(keyVariableProblem(name, []) ?? "", /^must /, name);
  }
  for (
    const name of [
      "",
      "OPENAI_API_KEY",
      "HF_TOKEN",
      "AWS_ACCESS_KEY_ID",
      "MY_KEY",
      "X_TOKEN",
      "LLM_API_KEY_2",
      "X_KEY_PROD",
    ]
  ) {
    assert.equal(keyVariableProblem(name, []), null, name);
  }
});

Deno.test("the operator may list the variables, but not muster's own", () => {
  const allowed = ["GITHUB_TOKEN", "MUSTER_TOKEN"];
  assert.equal(keyVariableProblem("GITHUB_TOKEN", allowed), null);
  assert.equal(keyVariableProblem("OPENAI_API_KEY", allowed), null);
  assert.equal(keyVariableProblem("", allowed), null);
  assert.match(keyVariableProblem("MY_KEY", allowed) ?? "", /llm\.key_variables/);
  assert.match(keyVariableProblem("MUSTER_TOKEN", allowed) ?? "", /muster's own/);
});
