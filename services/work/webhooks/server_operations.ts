import { forOperator } from "../projects/operator_operation.ts";
import * as webhooks from "./operations.ts";

const from = "/api/webhooks";
const ofProject = forOperator({ from, to: "/v1/projects/{slug}/webhooks" });
const ofAll = forOperator({ from, to: "/v1/webhooks", whose: "all projects" });

export const listProjectWebhooks = ofProject(webhooks.listWebhooks);
export const createProjectWebhook = ofProject(webhooks.createWebhook);
export const getProjectWebhook = ofProject(webhooks.getWebhook);
export const changeProjectWebhook = ofProject(webhooks.changeWebhook);
export const deleteProjectWebhook = ofProject(webhooks.deleteWebhook);
export const rotateProjectWebhookSecret = ofProject(webhooks.rotateWebhookSecret);
export const pingProjectWebhook = ofProject(webhooks.pingWebhook);
export const listProjectWebhookDeliveries = ofProject(webhooks.listWebhookDeliveries);
export const getProjectWebhookDelivery = ofProject(webhooks.getWebhookDelivery);
export const redeliverToProjectWebhook = ofProject(webhooks.redeliverToWebhook);

export const listServerWebhooks = ofAll(webhooks.listWebhooks);
export const createServerWebhook = ofAll(webhooks.createWebhook);
export const getServerWebhook = ofAll(webhooks.getWebhook);
export const changeServerWebhook = ofAll(webhooks.changeWebhook);
export const deleteServerWebhook = ofAll(webhooks.deleteWebhook);
export const rotateServerWebhookSecret = ofAll(webhooks.rotateWebhookSecret);
export const pingServerWebhook = ofAll(webhooks.pingWebhook);
export const listServerWebhookDeliveries = ofAll(webhooks.listWebhookDeliveries);
export const getServerWebhookDelivery = ofAll(webhooks.getWebhookDelivery);
export const redeliverToServerWebhook = ofAll(webhooks.redeliverToWebhook);
