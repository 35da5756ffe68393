import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { packageChart } from '../../../tools/release/chart.ts'
import { chart, ciValues, helm, helms, helmTest, scratch, template } from '../../support/helm.ts'

const newFolder = () => mkdtempSync(path.join(scratch, 'package-'))
const pack = async (folder: string) =>
  Buffer.concat(await Array.fromAsync(await packageChart(folder, { name: 'app', seconds: 1_773_014_400 })))
const contents = (archive: string) => execFileSync('tar', ['tzf', archive], { encoding: 'utf8' }).trim().split('\n').toSorted()

/** The chart in a new folder, with its files touched at a time of their own. */
function copy(time: number): string {
  const folder = path.join(newFolder(), 'app')
  cpSync(chart, folder, { recursive: true })
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) utimesSync(path.join(folder, file), time, time)
  return folder
}

test('the same chart gives the same package, whenever and wherever its files were written', async (t) => {
  const [one, two] = await Promise.all([pack(copy(1_000_000_000)), pack(copy(1_700_000_000))])
  t.deepEqual(one, two)
})

helmTest('Helm 4 packages files of one time alike, and packs the same files as we do', async (t) => {
  const archives = await Promise.all(
    [copy(1_773_014_400), copy(1_773_014_400)].map(async (folder) => {
      const into = newFolder()
      const { code, stderr } = await helm('4', ['package', folder, '--destination', into])
      t.is(code, 0, stderr)
      return path.join(into, 'app-1.6.0.tgz')
    }),
  )
  const [one = '', two = ''] = archives
  t.deepEqual(readFileSync(one), readFileSync(two))
  const own = path.join(newFolder(), 'own.tgz')
  writeFileSync(own, await pack(chart))
  const files = contents(own)
  t.deepEqual(
    files.filter((file) => !contents(one).includes(file)),
    [],
  )
  t.deepEqual(
    contents(one).filter((file) => !files.includes(file)),
    ['app/.helmignore'],
  )
  t.true(files.includes('app/values.schema.json') && files.includes('app/examples/cloudnative-pg/values.yaml'))
  t.deepEqual(
    files.filter((file) => file.includes('/ci/')),
    [],
  )
})

for (const major of helms)
  helmTest(`Helm ${major} renders the package as it renders the folder`, async (t) => {
    const archive = path.join(newFolder(), 'app-1.6.0.tgz')
    writeFileSync(archive, await pack(chart))
    for (const file of ['full-values.yaml', 'minimal-values.yaml']) {
      const [packed, plain] = await Promise.all([
        template(major, { values: ciValues(file), from: archive }),
        template(major, { values: ciValues(file) }),
      ])
      t.is(packed.code, 0, packed.stderr)
      t.is(packed.stdout, plain.stdout)
    }
  })

helmTest('what Helm stores of a release stays far below the largest Secret', async (t) => {
  // Helm keeps the chart, the values and the objects of each revision, compressed, in one Secret of at most 1 MiB.
  const { stdout } = await template('4', { values: ciValues('full-values.yaml') })
  const files = readdirSync(chart, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const text = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name)).toString('base64')).join('') + stdout
  const bytes = gzipSync(text).length * (4 / 3) ** 2
  t.log(`about ${Math.round(bytes / 1024)} KiB`)
  t.true(bytes < 300 * 1024)
})
