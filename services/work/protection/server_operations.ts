import { forOperator } from "../projects/operator_operation.ts";
import { getProtection, setProtection } from "./operations.ts";

const ofProject = forOperator({
  from: "/api/protection",
  to: "/v1/projects/{slug}/protection",
});

export const getProjectProtection = ofProject(getProtection);
export const setProjectProtection = ofProject(setProtection);
