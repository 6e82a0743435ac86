/**
 * What people say of units and groups, and what others do on nodes meanwhile, as plain data, so that a story can be printed, shrunk and told
 * again.
 */
import type { TaintHere } from "../sited.ts"
import type { Command } from "./commands.ts"
import type { Places, SiteKind, Word } from "./site-places.ts"

export type Mark = "labels" | "annotations"

export type SiteCommand =
  | {
      readonly _tag: "Join"
      readonly node: string
      readonly labels: Readonly<Record<string, string>>
      readonly taints: readonly TaintHere[]
      readonly unschedulable: boolean
    }
  | { readonly _tag: "Leave"; readonly node: string; readonly back: "gone" | "back" }
  | {
      readonly _tag: "Mark"
      readonly node: string
      readonly place: Mark
      readonly key: string
      readonly value: string | undefined
    }
  | { readonly _tag: "Taint"; readonly node: string; readonly taint: TaintHere }
  | { readonly _tag: "Untaint"; readonly node: string; readonly id: string }
  | { readonly _tag: "Cordon"; readonly node: string; readonly how: "on" | "off" | "anew" }
  | { readonly _tag: "Ready"; readonly node: string; readonly ready: boolean }
  | { readonly _tag: "Heartbeat"; readonly node: string }
  | { readonly _tag: "Say"; readonly kind: SiteKind; readonly name: string; readonly word: Word }
  | { readonly _tag: "Unsay"; readonly kind: SiteKind; readonly name: string; readonly back: "gone" | "back" }
  | { readonly _tag: "Confirm"; readonly kind: SiteKind; readonly name: string }
  | {
      readonly _tag: "Finalize"
      readonly kind: SiteKind
      readonly name: string
      readonly how: "strip" | "hold"
    }

export interface SiteBeat {
  readonly command: Command | SiteCommand
  readonly steps: number
}

export interface SiteStory {
  readonly seed: number
  readonly pageSize: number
  readonly concurrency: number
  readonly maxNodesChanged: number
  readonly beats: readonly SiteBeat[]
}

/** Carries out what people and others do. */
export const carryOutSite = (places: Places, command: SiteCommand): void => {
  switch (command._tag) {
    case "Join":
      return places.addNode(command.node, command.labels, command)
    case "Leave": {
      const labels = Object.fromEntries(places.theirs.get(command.node)?.labels ?? [])
      const there = places.node(command.node) !== undefined
      places.dropNode(command.node)
      if (there && command.back === "back") places.addNode(command.node, labels)
      return
    }
    case "Mark":
      return places.mark(command.place, command.node, command.key, command.value)
    case "Taint":
      return places.taint(command.node, command.taint)
    case "Untaint":
      return places.untaint(command.node, command.id)
    case "Cordon":
      if (command.how !== "on") places.cordon(command.node, false)
      if (command.how !== "off") places.cordon(command.node, true)
      return
    case "Ready":
      return places.ready(command.node, command.ready)
    case "Heartbeat":
      return places.beat(command.node)
    case "Say":
      return places.put(command.kind, command.name, command.word)
    case "Unsay": {
      const word = places.said[command.kind].get(command.name)
      places.drop(command.kind, command.name)
      if (word !== undefined && command.back === "back") places.put(command.kind, command.name, word)
      return
    }
    case "Confirm":
      return places.confirm(command.kind, command.name)
    case "Finalize":
      return places.finalize(command.kind, command.name, command.how)
  }
}

/** The kinds of what people and others do. */
export const PEOPLES: readonly SiteCommand["_tag"][] = [
  "Join",
  "Leave",
  "Mark",
  "Taint",
  "Untaint",
  "Cordon",
  "Ready",
  "Heartbeat",
  "Say",
  "Unsay",
  "Confirm",
  "Finalize"
]

export const isSiteCommand = (command: Command | SiteCommand): command is SiteCommand =>
  (PEOPLES as readonly string[]).includes(command._tag)
