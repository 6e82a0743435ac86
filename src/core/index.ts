/**
 * The published core of ServiceGroup: the rules that the controller runs, as pure functions over Kubernetes objects.
 *
 * No function needs a cluster, a clock or a package, and none writes to its arguments.
 */
export * from "./kube.ts"
export { type ChildKind } from "./schema.ts"
export {
  childName,
  type DeploymentGrid,
  type Grid,
  type GridStatus,
  isLabelKey,
  isLabelValue,
  type Refusal,
  type ServiceGrid,
  type ServiceGridStatus,
  type StatefulSetGrid,
  type WorkloadGrid,
  type WorkloadGridSpec
} from "./grid.ts"
export { unitOf, unitsOf } from "./units.ts"
export { unusedTemplates, type Workload, workloads, type Workloads } from "./workloads.ts"
export { service, type Services } from "./service.ts"
export { child, type Child, type ChildObject, type Owner, type Wanted } from "./child.ts"
export { desired, type Desired } from "./desired.ts"
export { type Hold } from "./hold.ts"
export { plan, type Plan, type PlanInput, type Step } from "./plan.ts"
export { status, type StatusInput, troubles } from "./status.ts"
export { ownedTree, wantedTree } from "./fields.ts"
export { type Difference, differences, digest, type Tree } from "./tree.ts"
export * as store from "./store.ts"
export { type Cause, delay, type Failure, type FailureReason, reconnect } from "./retry.ts"
export { duration } from "./duration.ts"
export type { EndpointAddress, Endpoints, EndpointSlice, EndpointSubset, SliceEndpoint } from "./endpoints.ts"
export { explain, type Explained, reachable, type Sight } from "./explain.ts"
export { known, type Known, reason, scope, type Scope, type Verdict } from "./topology.ts"
export { local, type Local } from "./local.ts"
export { type Malformed } from "./scan.ts"
export { item, type Item, sharing } from "./item.ts"
export { endpoints, slice, type Slice, type SliceKind } from "./slice.ts"
export { cut, render, type Shown, type Stamp, stamped } from "./cut.ts"
export { type ServiceFacts, type SyncedKind, type Told, View, type ViewChange } from "./view.ts"
export { type Bounds, type Event, type Expired, Journal, type Read } from "./journal.ts"
export { query, type Query, type Selectable, sent, type Sent, type Unreadable } from "./query.ts"
export type {
  NodeGroup,
  NodeGroupSpec,
  NodeGroupStatus,
  NodeUnit,
  NodeUnitSpec,
  NodeUnitStatus,
  SetNode,
  SiteRefusal,
  SiteSelector,
  Taint
} from "./site.ts"
export { sites, type Sites, type SitesInput } from "./sites.ts"
export type { FinalizerPatch } from "./finalizer.ts"
export {
  type HeldEdit,
  type Roster,
  roster,
  type RosterGroup,
  type RosterNode,
  type RosterUnit
} from "./roster.ts"
export { type Carried, type CarriedFrom } from "./carried.ts"
export { mergePatch, type NodePatch } from "./node-patch.ts"
export { type Leaving, moves, type Moves } from "./moves.ts"
export { dated } from "./site-status.ts"
export { type Name, names, type NamesInput } from "./names.ts"
export { type ExplainedName, explainName, type NameQuestion } from "./explain-name.ts"
export { type NameRow, type NameRule } from "./name-rows.ts"
