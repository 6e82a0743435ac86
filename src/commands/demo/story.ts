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
  canary,
  end,
  GRID,
  grid,
  guangzhou,
  HAND_LABEL,
  KEY,
  labelled,
  reaching,
  restarted,
  service,
  shanghai
} from "./expected.ts"
import { missingWithoutUnits, podsOf, type Unit } from "./missing.ts"
import { imageOf, type Scene } from "./scene.ts"
import { CANARY, CRDS, ECHO, NODES, SHANGHAI } from "./walkthrough.ts"

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
  readonly shows: readonly ("Grids" | "Nodes")[]
}

/** How long a unit that lost its last node keeps its Deployment. */
export const UNIT_GRACE = "2s"

/** The node whose wrapper is killed. */
const RESTARTED = "bj-1"

/** The pod of Guangzhou that is replaced. */
const replacedIn = (scene: Scene): string => podsOf(scene, canary.nodes)[0]?.metadata.name ?? ""

const WRONG = "superedge/echoserver:9.9"

const place = ({ unit, nodes }: Unit, kubectl: Kubectl): Effect.Effect<void, Failed> =>
  Effect.forEach(nodes, (name) => kubectl.label({ kind: "Node", name }, { [KEY]: unit }), { discard: true })

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
  ...reaching(scene, before, beijing, canary),
  ...(scene.upstream === "Cut" ? [] : ["the wrappers aren't cut off"])
]

export const STORY: readonly Step[] = [
  {
    title: "A grid for every place",
    says: `Six nodes stand in two cities, but nothing says so yet. A DeploymentGrid asks for one Deployment in every unit, that is for every value of the node label "${KEY}"; a ServiceGrid asks for one Service whose traffic stays in its unit.`,
    commands: () => [
      "kubectl apply --server-side -k manifests/crds",
      "kubectl apply --server-side -f manifests/examples/nodes.yaml",
      "kubectl apply --server-side -f manifests/examples/echo-deployment.yaml"
    ],
    act: ({ kubectl }) => kubectl.apply(ECHO),
    missing: (scene) => [...missingWithoutUnits(scene, GRID), ...service(scene, 0)],
    outcome: `No node has the label, so there is no unit and no Deployment. The Service is there already.`,
    shows: ["Grids"]
  },
  {
    title: "Nodes are labelled, units appear",
    says: "Two values, so two units: each gets a Deployment of its own, whose pods stay on the unit's nodes.",
    commands: () => [
      `kubectl label node ${beijing.nodes.join(" ")} ${KEY}=beijing`,
      `kubectl label node ${guangzhou.nodes.join(" ")} ${KEY}=guangzhou`
    ],
    act: ({ kubectl }) => Effect.zipRight(place(beijing, kubectl), place(guangzhou, kubectl)),
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
    title: "A node joins, in a place that is new",
    says: "Nobody touches the grid: the label of the node is enough.",
    commands: () => ["kubectl apply --server-side -f manifests/examples/shanghai.yaml"],
    act: ({ kubectl }) => kubectl.apply(SHANGHAI),
    missing: (scene) => [
      ...grid(scene, beijing, canary, shanghai),
      ...service(scene, 7),
      ...reaching(scene, scene, beijing, canary)
    ],
    outcome:
      "Shanghai has its Deployment. The Service has seven endpoints now; the other nodes are shown none of the new ones.",
    shows: ["Grids", "Nodes"]
  },
  {
    title: "A unit's last node leaves",
    says: `The Deployment stays for a grace time, in case that the node comes back (here ${UNIT_GRACE}, --unit-grace), then it goes.`,
    commands: () => [`kubectl delete node ${shanghai.nodes.join(" ")}`],
    act: ({ kubectl }) =>
      Effect.forEach(shanghai.nodes, (name) => kubectl.remove({ kind: "Node", name }), { discard: true }),
    missing: (scene, before) => [
      ...end(scene),
      ...restarted(scene, before, beijing),
      ...restarted(scene, before, canary)
    ],
    outcome: "Shanghai's Deployment is gone; the others never noticed.",
    shows: ["Grids"]
  },
  {
    title: "The nodes lose the cloud",
    says: "The way from the six wrappers to the API server is cut: their connections end, new ones are refused.",
    commands: () => [],
    act: ({ edge }) => edge.relay.cut(),
    missing: asBefore,
    outcome: "Every node is shown what it saw last, so kube-proxy has nothing to change.",
    shows: ["Nodes"]
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
    outcome: `Kube-proxy on ${RESTARTED} gets the same answer, from a process that has never met the API server.`,
    shows: ["Nodes"]
  },
  {
    title: "Meanwhile the cloud goes on",
    says: "A pod of Guangzhou is replaced there. The nodes can't hear of it.",
    commands: (before) => [`kubectl delete pod ${replacedIn(before)}`],
    act: ({ kubectl }, before) =>
      kubectl.remove({ kind: "Pod", namespace: "default", name: replacedIn(before) }),
    missing: (scene, before) => [
      ...grid(scene, beijing, canary),
      ...service(scene, 5),
      ...(restarted(scene, before, canary).length > 0 ? [] : ["no pod of guangzhou was replaced"]),
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
    missing: (scene) => [...service(scene, 5), ...reaching(scene, scene, beijing, canary)],
    outcome: "The nodes of Guangzhou reach the new pod; in Beijing nothing has changed.",
    shows: ["Nodes"]
  }
]
