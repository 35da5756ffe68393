import { operations } from '../../gateway/ports/operations.ts'
import type { Feature } from '../feature.ts'
import { wholePath } from '../route.ts'
import { mountFeatures, type MountOptions } from './mount.ts'

/** Returns a function that gives the paths that the installation has at its level, for the answer to a misspelt one. */
export function knownPaths(features: readonly Feature[], options: MountOptions): () => readonly string[] {
  let known: { readonly release: string; readonly paths: readonly string[] } | null = null
  return () => {
    const { release } = options.level
    if (known?.release !== release) known = { release, paths: pathsOf(features, options) }
    return known.paths
  }
}

function pathsOf(features: readonly Feature[], options: MountOptions): readonly string[] {
  const on = mountFeatures(features, options).flatMap(({ feature, unavailable }) => (unavailable === null ? feature.routes : []))
  return [...new Set([...Object.values(operations), ...on].map((row) => wholePath(row)))]
}
