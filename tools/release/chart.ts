import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { createGzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Chunks } from '../../src/distribution/bytes.ts'
import { DistributionFault } from '../../src/distribution/fault.ts'
import { mediaTypes, type Descriptor } from '../../src/distribution/oci/documents.ts'
import type { LayoutWriter } from '../../src/distribution/oci/layout.ts'
import { writeTar, type TarInput } from '../../src/distribution/tar/write.ts'

/** `Chart.yaml`, as far as we read it; Helm wants all of it as the configuration of a chart in a registry. */
export const ChartManifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  appVersion: z.string(),
  description: z.string().default(''),
  home: z.string().optional(),
  sources: z.array(z.string()).default([]),
  annotations: z.record(z.string(), z.string()).default({}),
})
export type ChartManifest = z.output<typeof ChartManifest>

/** Reads the manifest of a chart's folder. Throws DistributionFault `manifest_malformed`. */
export async function readChart(folder: string): Promise<ChartManifest> {
  const text = await readFile(path.join(folder, 'Chart.yaml'), 'utf8').catch(() => null)
  const parsed = ChartManifest.safeParse(text === null ? null : parse(text))
  if (parsed.success) return parsed.data
  throw new DistributionFault('manifest_malformed', `${folder} is no chart: Chart.yaml is missing or malformed`)
}

/** The chart as Helm packages it, in pieces. The same files give the same bytes, which not every Helm does. */
export async function packageChart(folder: string, { name, seconds }: { name: string; seconds: number }): Promise<Chunks> {
  const ignored = await readIgnored(folder)
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((file) => !ignored(file))
  // Helm reads Chart.yaml first.
  const ordered = files.toSorted((one, other) => Number(other === 'Chart.yaml') - Number(one === 'Chart.yaml') || (one < other ? -1 : 1))
  async function* members(): AsyncGenerator<TarInput> {
    for (const file of ordered) {
      const bytes = await readFile(path.join(folder, file))
      yield { path: `${name}/${file}`, type: 'file', mode: 0o644, size: bytes.length, content: () => [bytes] }
    }
  }
  return Readable.from(writeTar(members(), seconds), { objectMode: false }).pipe(createGzip({ level: 9 }))
}

/**
 * Returns a test for files that `.helmignore` leaves out. It supports the patterns of names, folders and `*`; others are refused, so that none is
 * ignored.
 */
async function readIgnored(folder: string): Promise<(file: string) => boolean> {
  const text = await readFile(path.join(folder, '.helmignore'), 'utf8').catch(() => '')
  const lines = text.split('\n').map((line) => line.trim())
  const patterns = lines.filter((line) => line !== '' && !line.startsWith('#')).map(toPattern)
  return (file) => file === '.helmignore' || patterns.some((pattern) => pattern.test(file))
}

function toPattern(line: string): RegExp {
  if (!/^\/?[\w.*~-]+(?:\/[\w.*~-]+)*\/?$/.test(line) || line.includes('**'))
    throw new DistributionFault('manifest_malformed', `.helmignore has the pattern ${line}, which is not known here`)
  const inner = line
    .replace(/^\/|\/$/g, '')
    .replaceAll('.', String.raw`\.`)
    .replaceAll('*', '[^/]*')
  const anchored = line.replace(/\/$/, '').includes('/')
  return new RegExp(`${anchored ? '^' : '(?:^|/)'}${inner}${line.endsWith('/') ? '/' : '(?:/|$)'}`)
}

/** Stores a packaged chart in a layout, as `helm push` would store it in a registry. */
export async function addChart(layout: LayoutWriter, chart: ChartManifest, archive: Chunks): Promise<Descriptor> {
  const content = await layout.add(mediaTypes.chart, archive)
  const config = await layout.addJson(mediaTypes.chartConfig, chart)
  const { name, version, description, home, sources } = chart
  const annotations = {
    'org.opencontainers.image.title': name,
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.description': description,
    ...(home !== undefined && { 'org.opencontainers.image.url': home }),
    ...(sources[0] !== undefined && { 'org.opencontainers.image.source': sources[0] }),
  }
  return layout.addJson(mediaTypes.manifest, { schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers: [content], annotations })
}
