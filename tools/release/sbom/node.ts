import { z } from 'zod'
import { parseDocument } from '../../../src/distribution/oci/documents.ts'
import { cpeOf, nodeProducts } from './cpe.ts'
import type { Component } from './components.ts'

/** `process.versions` of the Node in the image, which only that Node can report. */
const Versions = z.record(z.string(), z.string())

/** Numbers of interfaces and of data, which are no software. */
const noSoftware = new Set(['cldr', 'modules', 'napi', 'node', 'tz', 'unicode'])

/** Node, by its headers, and its own dependencies, where the image states them. */
export function nodeComponents(header: string, versions: string | null): readonly Component[] {
  const version = nodeVersionOf(header)
  if (version === null) return []
  const purl = `pkg:generic/node@${version}`
  const built = versions === null ? {} : parseDocument(Versions, versions, 'versions.json of Node')
  const components = Object.entries(built)
    .filter(([name, found]) => found !== '' && !noSoftware.has(name))
    .map(([name, found]) => partOf(name, found))
  const cpe = cpeOf('nodejs:node.js', version)
  return [
    {
      type: 'framework',
      'bom-ref': purl,
      name: 'node',
      version,
      purl,
      cpe,
      licenses: [{ expression: 'MIT' }],
      ...(components.length > 0 && { components }),
    },
  ]
}

function partOf(name: string, version: string): Component {
  const product = nodeProducts[name]
  return {
    type: 'library',
    'bom-ref': `node:${name}@${version}`,
    name,
    version,
    ...(product !== undefined && { cpe: cpeOf(product, version) }),
    evidence: { occurrences: [{ location: '/usr/local/bin/node' }] },
  }
}

/** The version that Node's headers state; null when they do not. */
export function nodeVersionOf(header: string): string | null {
  const numbers = ['MAJOR', 'MINOR', 'PATCH'].map((part) => new RegExp(`^#define NODE_${part}_VERSION (\\d+)$`, 'm').exec(header)?.[1])
  return numbers.includes(undefined) ? null : numbers.join('.')
}
