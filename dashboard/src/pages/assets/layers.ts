/** The positions of the assets in a graph: each to the right of its dependencies. */

/** What a layout needs of an asset. */
export interface Node {
  readonly name: string
  readonly deps: readonly { readonly asset: string }[]
}

/** A place in the graph: its layer from the start, and its row in the layer. */
export interface Place {
  readonly layer: number
  readonly row: number
}

/** The place of each asset, by name. Deps that are not in the list are left out; a circle does not loop. */
export function placesOf(nodes: readonly Node[]): ReadonlyMap<string, Place> {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const layers = new Map<string, number>()
  const layerOf = (name: string, path: readonly string[]): number => {
    const known = layers.get(name)
    if (known !== undefined) return known
    const deps = byName.get(name)?.deps ?? []
    const before = deps.filter(({ asset }) => byName.has(asset) && !path.includes(asset))
    const layer = Math.max(-1, ...before.map(({ asset }) => layerOf(asset, [...path, name]))) + 1
    layers.set(name, layer)
    return layer
  }
  for (const { name } of nodes) layerOf(name, [])
  const places = new Map<string, Place>()
  const last = Math.max(-1, ...layers.values())
  for (let layer = 0; layer <= last; layer += 1) {
    const members = nodes.filter(({ name }) => layers.get(name) === layer)
    const weight = new Map(members.map((node) => [node.name, meanRow(node, places)]))
    // Close to its dependencies, so that few lines cross.
    const sorted = members.toSorted(
      (a, b) => (weight.get(a.name) ?? 0) - (weight.get(b.name) ?? 0) || a.name.localeCompare(b.name),
    )
    for (const [row, { name }] of sorted.entries()) places.set(name, { layer, row })
  }
  return places
}

function meanRow({ deps }: Node, places: ReadonlyMap<string, Place>): number {
  const rows = deps.flatMap(({ asset }) => places.get(asset)?.row ?? [])
  return rows.length === 0 ? 0 : rows.reduce((sum, row) => sum + row, 0) / rows.length
}
