import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { packageChart, readChart } from '../../../tools/release/chart.ts'
import { DistributionFault } from '../../../src/distribution/fault.ts'
import { scanTar } from '../../../src/distribution/tar/scan.ts'
import { streamSource } from '../../../tools/release/stream-source.ts'

function chart(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-chart-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text)
  }
  return folder
}

const packed = async (folder: string) =>
  Buffer.concat(await Array.fromAsync(await packageChart(folder, { name: 'app', seconds: 1_773_014_400 })))

async function namesIn(archive: Buffer): Promise<readonly string[]> {
  const names = []
  const bytes = gunzipSync(archive)
  const source = streamSource(
    (async function* () {
      yield bytes
    })(),
  )
  for await (const { path: name } of scanTar(source)) names.push(name)
  return names
}

const files = {
  'Chart.yaml': 'name: app\nversion: 1.0.0\nappVersion: 2.0.0\n',
  'values.yaml': '{}',
  'templates/a.yaml': '',
  'templates/ci/kept.yaml': '',
  'ci/left-out.yaml': '',
  'notes.orig': '',
  'templates/notes.orig': '',
  'README.md': '',
}

test('a chart is packaged without what it ignores, Chart.yaml first, the same bytes each time', async (t) => {
  const folder = chart(t, { ...files, '.helmignore': '# comment\n*.orig\n/ci/\n' })
  const archive = await packed(folder)
  t.deepEqual(await namesIn(archive), [
    'app/Chart.yaml',
    'app/README.md',
    'app/templates/a.yaml',
    'app/templates/ci/kept.yaml',
    'app/values.yaml',
  ])
  t.deepEqual(await packed(chart(t, { ...files, '.helmignore': '# comment\n*.orig\n/ci/\n' })), archive)
})

test('a folder pattern without a slash before it counts at every depth', async (t) => {
  const names = await namesIn(await packed(chart(t, { ...files, '.helmignore': 'ci/\n*.orig' })))
  t.false(names.some((name) => name.includes('/ci/')))
})

for (const pattern of ['!kept', '**/x', 'a?b', '[ab]'])
  test(`the pattern ${pattern} is refused, because it would be taken for another`, async (t) => {
    const error = await t.throwsAsync(packed(chart(t, { ...files, '.helmignore': pattern })), { instanceOf: DistributionFault })
    t.is(error?.code, 'manifest_malformed')
  })

test('a folder without a chart is refused', async (t) => {
  await t.throwsAsync(readChart(chart(t, {})), { instanceOf: DistributionFault })
  await t.throwsAsync(readChart(chart(t, { 'Chart.yaml': 'name: app\n' })), { message: /is no chart/ })
})
