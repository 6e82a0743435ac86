/**
 * The YAML of the walkthrough, as it stands in `manifests`: what a person would apply, and where it is.
 */
import { parseAllDocuments } from "yaml"
import deploymentGrids from "../../../manifests/crds/deploymentgrids.yaml"
import nodeGroups from "../../../manifests/crds/nodegroups.yaml"
import nodeUnits from "../../../manifests/crds/nodeunits.yaml"
import serviceGrids from "../../../manifests/crds/servicegrids.yaml"
import statefulSetGrids from "../../../manifests/crds/statefulsetgrids.yaml"
import canary from "../../../manifests/examples/echo-canary.yaml"
import echo from "../../../manifests/examples/echo-deployment.yaml"
import nodes from "../../../manifests/examples/nodes.yaml"
import shanghai from "../../../manifests/examples/shanghai.yaml"
import sites from "../../../manifests/examples/sites.yaml"
import web from "../../../manifests/examples/web.yaml"
import type { KubeObject } from "../../core/kube.ts"

const objects = (text: string): readonly KubeObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((value) => value !== null)

export const CRDS: readonly KubeObject[] = [
  deploymentGrids,
  statefulSetGrids,
  serviceGrids,
  nodeUnits,
  nodeGroups
].flatMap(objects)

/** Three nodes in Beijing, three in Guangzhou, none of them in a unit. */
export const NODES: readonly KubeObject[] = objects(nodes)

/** A NodeUnit for each of the two places, and the NodeGroup `location` of both. */
export const SITES: readonly KubeObject[] = objects(sites)

/** A DeploymentGrid and a ServiceGrid with the key `location`. */
export const ECHO: readonly KubeObject[] = objects(echo)

/** The same DeploymentGrid with a pool of templates, of which one unit uses one. */
export const CANARY: readonly KubeObject[] = objects(canary)

/** A StatefulSetGrid with two pods in each unit, and a headless ServiceGrid, with the key `location`. */
export const WEB_GRIDS: readonly KubeObject[] = objects(web)

/** One node more at a place of its own, which the group has too. */
export const SHANGHAI: readonly KubeObject[] = objects(shanghai)
