/**
 * Nodes on a server, and a controller that passes over them when it is told to.
 */
import { expect } from "vitest"
import type { Node } from "../src/core/kube.ts"
import { mergePatch, type NodePatch } from "../src/core/node-patch.ts"
import type { NodeGroup, NodeUnit } from "../src/core/site.ts"
import { sites, type Sites } from "../src/core/sites.ts"
import { type Edit, edited, patched, type Seat, seat, type SeatInput, shown, stored } from "./sited.ts"

export const MARK = "nodeunits.superedge.io"

export class World {
  last: Sites
  #seats = new Map<string, Seat>()

  constructor(
    units: readonly NodeUnit[],
    groups: readonly NodeGroup[],
    nodes: { readonly [name: string]: SeatInput }
  ) {
    for (const [name, input] of Object.entries(nodes)) this.add(name, input)
    this.last = this.pass(units, groups)
    this.settle(units, groups)
  }

  add(name: string, input: SeatInput): void {
    this.#seats.set(name, seat(name, input))
  }

  change(name: string, step: (node: Seat) => Seat): void {
    const before = this.#seats.get(name)
    if (before === undefined) throw new Error(`no node ${name}`)
    this.#seats.set(name, step(before))
  }

  edit(name: string, edit: Edit): void {
    this.change(name, (node) => edited(node, edit))
  }

  nodes(): readonly Node[] {
    return [...this.#seats.values()].map(stored)
  }

  node(name: string): Node {
    const found = this.nodes().find(({ metadata }) => metadata.name === name)
    if (found === undefined) throw new Error(`no node ${name}`)
    return found
  }

  at(name: string): ReturnType<typeof shown> {
    const found = this.#seats.get(name)
    if (found === undefined) throw new Error(`no node ${name}`)
    return shown(found)
  }

  pass(units: readonly NodeUnit[], groups: readonly NodeGroup[]): Sites {
    return sites({ units, groups, nodes: this.nodes() })
  }

  write(patches: readonly NodePatch[]): void {
    for (const patch of patches) this.change(patch.name, (node) => patched(node, mergePatch(patch)))
  }

  /** Passes and writes until nothing is wanted, which is after one pass; gives the last. */
  settle(units: readonly NodeUnit[], groups: readonly NodeGroup[]): Sites {
    this.write(this.pass(units, groups).nodes)
    this.last = this.pass(units, groups)
    expect(this.last.nodes).toEqual([])
    return this.last
  }
}

/** The world once these units and groups have had their way. */
export const settled = (
  units: readonly NodeUnit[],
  groups: readonly NodeGroup[],
  nodes: { readonly [name: string]: SeatInput }
): World => new World(units, groups, nodes)
