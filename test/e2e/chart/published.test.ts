// Every chart that the releases of the table were published with, cut as `release build` cuts it, under both Helms. Each build renders
// each of them with some values; every set of values, every mode and every missing value comes with NIGHTLY=1.
import { globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { readOwnTable } from '../../../src/app/level/release-records.ts'
import { settings, settingNames } from '../../../src/config/index.ts'
import { satisfies } from '../../../src/release/floor.ts'
import { chartFor } from '../../../src/release/table.ts'
import { compareVersions } from '../../../src/release/version.ts'
import { helm, helms, helmTest, lazily, minimal, objects, oneOf, parseObjects, podsOf, serverPod, template } from '../../support/helm.ts'
import { typeFaults } from '../../support/kubernetes/check-types.ts'
import { publishedChart, publishedCharts } from '../../support/published-chart.ts'
import { nightly } from '../../support/size.ts'

type Values = Readonly<Record<string, unknown>>

const table = readOwnTable()
const read = (...parts: string[]) => readFileSync(path.join(...parts), 'utf8')
const valuesOf = (folder: string, file: string) => parse(read(folder, file)) as Values

/** The charts, made once. */
const charts = publishedCharts.map((version) => {
  const { appVersion = '' } = table.charts.find((one) => one.version === version) ?? {}
  return { version, appVersion, folder: lazily(() => publishedChart(version)) }
})

/** All sets of values that a chart brings, its examples too. */
const filesOf = (folder: string) => globSync(['ci/*-values.yaml', 'examples/*/values.yaml'], { cwd: folder }).toSorted()
const some = (file: string) => nightly || /full|minimal|examples/.test(file)

test('every release is deployed by a chart that is published, and by none below its floor', (t) => {
  for (const release of table.releases) {
    const deploying = chartFor(table, release)
    t.true(deploying !== null && publishedCharts.includes(deploying.version), release.version)
    t.true(satisfies(deploying?.version ?? '', release.chart), release.version)
  }
})

for (const { version, appVersion, folder } of charts) {
  const later = settingNames.filter((name) => compareVersions(settings[name].since, appVersion) > 0)

  helmTest(`app-${version} renders with every set of values that it brings, with Helm 3 and Helm 4 alike`, async (t) => {
    for (const file of filesOf(folder()).filter(some))
      for (const args of nightly ? [[], ['--is-upgrade']] : [[]]) {
        const [three, four] = await Promise.all(
          helms.map((major) => template(major, { from: folder(), values: valuesOf(folder(), file), args })),
        )
        t.is(four?.code, 0, `${file}: ${four?.stderr}`)
        t.is(three?.stdout, four?.stdout, file)
        const list = parseObjects(four?.stdout ?? '')
        const pods = podsOf(list)
        t.true(pods.length > 1, file)
        for (const { of, container, env } of pods) {
          t.regex(container.image ?? '', new RegExp(`gatehouse:${file.includes('full') ? '1.12.0' : appVersion}`), `${file}: ${of}`)
          t.is(env['DEPLOYMENT_CHART'], `app-${version}`, `${file}: ${of}`)
          // A process of this release takes an unknown setting for a mistake.
          t.deepEqual(
            Object.keys(env).filter((name) => later.some((one) => name === one || name === `${one}_FILE`)),
            [],
            `${file}: ${of}`,
          )
        }
        if (nightly) t.is(await typeFaults(list), '', file)
      }
  })

  helmTest(`app-${version} passes the lint of both Helms`, async (t) => {
    for (const major of nightly ? helms : (['4'] as const))
      for (const file of filesOf(folder()).filter(some)) {
        const { code, stdout } = await helm(major, ['lint', '--strict', folder(), '--values', path.join(folder(), file)])
        t.is(code, 0, `${file}: ${stdout}`)
      }
  })

  helmTest(`app-${version} bears that a value is missing, and refuses values that came later by name`, async (t) => {
    const defaults = valuesOf(folder(), 'values.yaml')
    const full = valuesOf(folder(), 'ci/full-values.yaml')
    const bare = Object.fromEntries(Object.keys(defaults).map((name) => [name, minimal[name] ?? null]))
    const skip = ['--skip-schema-validation']
    const given = nightly ? Object.keys(defaults).map((name) => Object.assign({}, full, { [name]: null })) : []
    for (const values of [bare, ...given]) {
      const { code, stderr } = await template('4', { from: folder(), values, args: skip })
      t.true(code === 0 || /This cannot be installed as it is:/.test(stderr), stderr)
    }
    t.is((await template('4', { from: folder(), values: bare, args: skip })).code, 0)
    const [name] = later
    if (name === undefined) return
    const value = name.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    const { code, stderr } = await template('4', { from: folder(), values: { ...minimal, settings: { [value]: 'x' } } })
    t.not(code, 0)
    t.true(stderr.includes(value), stderr)
  })

  test(`app-${version} tells nothing of what came after it`, (t) => {
    const text = readdirSync(folder(), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/templates|ci$/.test(entry.parentPath))
      .map(({ parentPath, name }) => read(parentPath, name))
      .join('\n')
    for (const name of later) t.notRegex(text, new RegExp(String.raw`\b${name}\b`), name)
    const { releases } = JSON.parse(read(folder(), 'files/releases.json')) as { releases: readonly { version: string }[] }
    t.is(releases.at(-1)?.version, appVersion)
  })
}

helmTest('each release starts with the charts that satisfy its floor, and each chart deploys what it was cut for', async (t) => {
  for (const { version, appVersion, folder } of charts) {
    const list = await objects('4', { from: folder() })
    t.is(serverPod(list).container.image, `gatehouse:${appVersion}`)
    t.is(oneOf(list, 'Secret').stringData?.['release'], appVersion)
    // The chart refuses by its data, and the image by its record: together they leave exactly this.
    for (const release of table.releases.filter((one) => compareVersions(one.version, appVersion) <= 0))
      t.true(satisfies(version, release.chart), `app-${version} knows ${release.version}, and may not deploy it`)
  }
})
