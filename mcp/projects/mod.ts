/** The tools that act in projects, in the order of `tools/list`: a file per subject. */
import type { Tool } from "../tool.ts";
import { changeTools } from "./change_tools.ts";
import { claimTools } from "./claim_tools.ts";
import { codeTools } from "./code_tools.ts";
import { commitTools } from "./commit_tools.ts";
import { historyTools } from "./history_tools.ts";
import { projectTools } from "./project_tools.ts";
import { releaseTools } from "./release_tools.ts";
import { reviewTools } from "./review_tools.ts";
import { searchTools } from "./search_tools.ts";
import { sqlTools } from "./sql_tools.ts";
import { ticketTools } from "./ticket_tools.ts";
import { wikiTools } from "./wiki_tools.ts";
import { workTools } from "./work_tools.ts";
import { workspaceTools } from "./workspace_tools.ts";

/** Every tool that acts in projects. */
export const TOOLS_FOR_PROJECTS: readonly Tool[] = [
  ...projectTools,
  ...workTools,
  ...codeTools,
  ...searchTools,
  ...historyTools,
  ...changeTools,
  ...ticketTools,
  ...claimTools,
  ...workspaceTools,
  ...commitTools,
  ...reviewTools,
  ...wikiTools,
  ...releaseTools,
  ...sqlTools,
];
