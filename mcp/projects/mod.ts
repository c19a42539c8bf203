/** The tools that act in projects, in the order of `tools/list`. */
import * as operations from "../../services/operation/daemon/operations.ts";
import { declaredTools } from "../declared_tools.ts";
import { inOrder, type Tool } from "../tool.ts";
import { changeTools } from "./change_tools.ts";
import { checkTools } from "./check_tools.ts";
import { readingTools } from "./code_tools.ts";
import { commitTools } from "./commit_tools.ts";
import { projectTools } from "./project_tools.ts";
import { reviewTools } from "./review_tools.ts";
import { searchTools } from "./search_tools.ts";
import { sqlTools } from "./sql_tools.ts";
import { ticketTools } from "./ticket_tools.ts";
import { workspaceTools } from "./workspace_tools.ts";

/** Every tool that acts in projects: what operations declare, and what is worded for models here. */
export const TOOLS_FOR_PROJECTS: readonly Tool[] = [
  ...projectTools,
  ...inOrder([
    ...declaredTools(Object.values(operations)),
    ...changeTools,
    ...checkTools,
    ...readingTools,
    ...commitTools,
    ...reviewTools,
    ...searchTools,
    ...sqlTools,
    ...ticketTools,
    ...workspaceTools,
  ]),
];
