/**
 * The story, step by step: what a person would type, why, and what must be there before it goes on.
 *
 * Steps wait on what the cluster holds, never on time.
 */
import * as Effect from "effect/Effect"
import type { Edge } from "./edge.ts"
import { Failed, type Kubectl } from "./kubectl.ts"
import {
  beijing,
  beijingLess,
  canary,
  canaryMore,
  end,
  grid,
  guangzhou,
  HAND_LABEL,
  KEY,
  labelled,
  places,
  reaching,
  resolved,
  restarted,
  service,
  shanghai,
  shanghaiEmpty
} from "./expected.ts"
import { podsOf } from "./missing.ts"
import { imageOf, type Scene } from "./scene.ts"
import { CANARY, CRDS, ECHO, NODES, SHANGHAI, SITES, WEB_GRIDS } from "./walkthrough.ts"

/** What may be shown. */
export type Table = "Sites" | "Grids" | "Nodes" | "Names"

/** What a step acts on. */
export interface Stage {
  readonly kubectl: Kubectl
  readonly edge: Edge
}

export interface Step {
  readonly title: string
  /** why, in a sentence or two */
  readonly says: string
  /** what a person would type, as things are before the step */
  readonly commands: (before: Scene, stage: Stage) => readonly string[]
  readonly act: (stage: Stage, before: Scene) => Effect.Effect<void, Failed>
  /** what is not there yet; `before` is what was there before the step */
  readonly missing: (scene: Scene, before: Scene) => readonly string[]
  /** what came of it */
  readonly outcome: string
  /** where it is to be seen */
  readonly shows: readonly Table[]
}

/** How long a unit that lost its last node keeps its Deployment. */
export const UNIT_GRACE = "2s"

/** The node whose wrapper is killed. */
const RESTARTED = "bj-1"

/** The pod of Guangzhou that is replaced. */
const replacedIn = (scene: Scene): string => podsOf(scene, canary.nodes)[0]?.metadata.name ?? ""

const WRONG = "superedge/echoserver:9.9"

/** How a node changes its unit: it comes to the new one before it leaves the old one. */
const MOVES = [canaryMore, beijingLess].map(({ unit, nodes }) => [unit, nodes] as const)

const patchText = (nodes: readonly string[]): string => JSON.stringify({ spec: { nodes } })

const deployment = (name: string) => ({ kind: "Deployment", namespace: "default", name })

/** Sets a wrong image, and makes sure that it was the server's for a moment. */
const edited = (kubectl: Kubectl): Effect.Effect<void, Failed> =>
  Effect.flatMap(kubectl.setImage(deployment(HAND_LABEL.name), "echo", WRONG), (answer) => {
    const image = imageOf(answer)
    return image === WRONG
      ? Effect.void
      : new Failed({ message: `${HAND_LABEL.name} was given image ${WRONG}, but has ${image}` })
  })

/** What a cluster must have before a controller is any use: the kinds. And some nodes. */
export const prepare = (kubectl: Kubectl): Effect.Effect<void, Failed> =>
  Effect.zipRight(kubectl.apply(CRDS), kubectl.apply(NODES))

/** What is missing where the nodes, cut off, are still shown what was right before. */
const asBefore = (scene: Scene, before: Scene): readonly string[] => [
  ...reaching(scene, before, beijingLess, canaryMore),
  ...resolved(scene, before),
  ...(scene.upstream === "Cut" ? [] : ["the wrappers aren't cut off"])
]

export const STORY: readonly Step[] = [
  {
    title: "Six nodes become two sites",
    says: `Six nodes stand in two cities, but nothing says so yet. A NodeUnit names the nodes of a place, and a NodeGroup gathers the places: each node then carries the label ${KEY}=<its unit>.`,
    commands: () => [
      "kubectl apply --server-side -k manifests/crds",
      "kubectl apply --server-side -f manifests/examples/nodes.yaml",
      "kubectl apply --server-side -f manifests/examples/sites.yaml"
    ],
    act: ({ kubectl }) => kubectl.apply(SITES),
    missing: (scene) => places(scene, beijing, guangzhou),
    outcome:
      "Two units with three nodes each. The unit of all nodes is there from the start, as in SuperEdge.",
    shows: ["Sites"]
  },
  {
    title: "A grid for every place",
    says: `A DeploymentGrid asks for one Deployment in every unit, that is for every value of the node label "${KEY}"; a ServiceGrid asks for one Service whose traffic stays in its unit.`,
    commands: () => ["kubectl apply --server-side -f manifests/examples/echo-deployment.yaml"],
    act: ({ kubectl }) => kubectl.apply(ECHO),
    missing: (scene) => [
      ...grid(scene, beijing, guangzhou),
      ...service(scene, 4),
      ...reaching(scene, scene, beijing, guangzhou)
    ],
    outcome:
      "Two Deployments, two pods each, and one Service for all four. Of these, each node's kube-proxy is shown those of its own unit.",
    shows: ["Grids", "Nodes"]
  },
  {
    title: "A new version, in one unit only",
    says: "The grid gets a pool of templates, and guangzhou uses one of them: 3 replicas of image 2.3.",
    commands: () => ["kubectl apply --server-side -f manifests/examples/echo-canary.yaml"],
    act: ({ kubectl }) => kubectl.apply(CANARY),
    missing: (scene, before) => [
      ...grid(scene, beijing, canary),
      ...restarted(scene, before, beijing),
      ...service(scene, 5),
      ...reaching(scene, scene, beijing, canary)
    ],
    outcome: "Guangzhou runs 2.3, and its nodes reach that. In Beijing the same two pods run as before.",
    shows: ["Grids", "Nodes"]
  },
  {
    title: "Somebody edits a Deployment by hand",
    says: "What the grid says is set back; what it doesn't speak of, such as a label of one's own, stays.",
    commands: () => [
      `kubectl set image deployment/${HAND_LABEL.name} echo=${WRONG}`,
      `kubectl label deployment/${HAND_LABEL.name} ${HAND_LABEL.label}=${HAND_LABEL.value}`
    ],
    act: ({ kubectl }) =>
      Effect.zipRight(
        edited(kubectl),
        kubectl.label(deployment(HAND_LABEL.name), { [HAND_LABEL.label]: HAND_LABEL.value })
      ),
    missing: (scene) => [...grid(scene, beijing, canary), ...labelled(scene)],
    outcome: `Beijing has ${beijing.image} again, and keeps the label ${HAND_LABEL.label}=${HAND_LABEL.value}.`,
    shows: ["Grids"]
  },
  {
    title: "A node changes its site",
    says: "bj-3 goes to the other place: guangzhou names it too, then beijing lets it go. In between it stays where it was.",
    commands: () =>
      MOVES.map(([unit, nodes]) => `kubectl patch nodeunit ${unit} --type merge -p '${patchText(nodes)}'`),
    act: ({ kubectl }) =>
      Effect.forEach(
        MOVES,
        ([name, nodes]) => kubectl.patch({ kind: "NodeUnit", name }, { spec: { nodes } }),
        { discard: true }
      ),
    missing: (scene, before) => [
      ...places(scene, beijingLess, canaryMore),
      ...grid(scene, beijingLess, canaryMore),
      ...restarted(scene, before, beijing),
      ...restarted(scene, before, canary),
      ...service(scene, 5),
      ...reaching(scene, scene, beijingLess, canaryMore)
    ],
    outcome: "bj-3 reaches the pods of Guangzhou now. No pod was restarted, and no other node notices.",
    shows: ["Sites", "Nodes"]
  },
  {
    title: "A node joins, in a place that is new",
    says: "Nobody touches the grid: a node, a unit for it, and the group that gets a third one.",
    commands: () => ["kubectl apply --server-side -f manifests/examples/shanghai.yaml"],
    act: ({ kubectl }) => kubectl.apply(SHANGHAI),
    missing: (scene) => [
      ...places(scene, beijingLess, canaryMore, shanghai),
      ...grid(scene, beijingLess, canaryMore, shanghai),
      ...service(scene, 7),
      ...reaching(scene, scene, beijingLess, canaryMore)
    ],
    outcome:
      "Shanghai has its Deployment. The Service has seven endpoints now; the other nodes are shown none of the new ones.",
    shows: ["Sites", "Grids", "Nodes"]
  },
  {
    title: "A unit's last node leaves",
    says: `The Deployment stays for a grace time, in case that the node comes back (here ${UNIT_GRACE}, --unit-grace), then it goes.`,
    commands: () => [`kubectl delete node ${shanghai.nodes.join(" ")}`],
    act: ({ kubectl }) =>
      Effect.forEach(shanghai.nodes, (name) => kubectl.remove({ kind: "Node", name }), { discard: true }),
    missing: (scene, before) => [
      ...places(scene, beijingLess, canaryMore, shanghaiEmpty),
      ...grid(scene, beijingLess, canaryMore),
      ...service(scene, 5),
      ...restarted(scene, before, beijingLess),
      ...restarted(scene, before, canaryMore)
    ],
    outcome: "Shanghai's Deployment is gone; the others never noticed.",
    shows: ["Sites", "Grids"]
  },
  {
    title: "Pods with names, in every place",
    says: "A StatefulSetGrid asks for one StatefulSet in every unit, here of two pods, and a ServiceGrid without a cluster IP gives them names in DNS. The wrappers of bj-1 and gz-1 serve a CoreDNS too (--dns-listen), and each shows it the pods of its own unit under short names besides.",
    commands: () => ["kubectl apply --server-side -f manifests/examples/web.yaml"],
    act: ({ kubectl }) => kubectl.apply(WEB_GRIDS),
    missing: end,
    outcome:
      "web-0.web-svc is Beijing's own pod 0 in Beijing, and Guangzhou's in Guangzhou. By their full names all pods are known everywhere.",
    shows: ["Names"]
  },
  {
    title: "The nodes lose the cloud",
    says: "The way from the six wrappers to the API server is cut: their connections end, new ones are refused.",
    commands: () => [],
    act: ({ edge }) => edge.relay.cut(),
    missing: asBefore,
    outcome:
      "Every node is shown what it saw last, so kube-proxy has nothing to change, and names stay what they were.",
    shows: ["Nodes", "Names"]
  },
  {
    title: "A wrapper dies, and starts with nothing to ask",
    says: `What a wrapper knows it also keeps on disk. The one of ${RESTARTED} is killed, so that it can't say goodbye, and another one is started.`,
    commands: (_, { edge }) => [
      `kill -9 ${edge.pid(RESTARTED)}`,
      `servicegroup wrapper --node-name ${RESTARTED} --snapshot …`
    ],
    act: ({ edge }, before) =>
      edge
        .kept(RESTARTED, before.slices)
        .pipe(Effect.zipRight(edge.kill(RESTARTED)), Effect.zipRight(edge.start(RESTARTED))),
    missing: asBefore,
    outcome: `Kube-proxy and CoreDNS on ${RESTARTED} get the same answers, from a process that has never met the API server.`,
    shows: ["Nodes", "Names"]
  },
  {
    title: "Meanwhile the cloud goes on",
    says: "A pod of Guangzhou is replaced there. The nodes can't hear of it.",
    commands: (before) => [`kubectl delete pod ${replacedIn(before)}`],
    act: ({ kubectl }, before) =>
      kubectl.remove({ kind: "Pod", namespace: "default", name: replacedIn(before) }),
    missing: (scene, before) => [
      ...grid(scene, beijingLess, canaryMore),
      ...service(scene, 5),
      ...(restarted(scene, before, canaryMore).length > 0 ? [] : ["no pod of guangzhou was replaced"]),
      ...asBefore(scene, before)
    ],
    outcome: "The Service has another endpoint; what the nodes are shown stays.",
    shows: ["Nodes"]
  },
  {
    title: "The cloud is back",
    says: "The way is mended. The wrappers ask for everything once, and tell what is different.",
    commands: () => [],
    act: ({ edge }) => edge.relay.mend(),
    missing: (scene) => [...service(scene, 5), ...reaching(scene, scene, beijingLess, canaryMore)],
    outcome: "The nodes of Guangzhou reach the new pod; in Beijing nothing has changed.",
    shows: ["Nodes"]
  }
]
