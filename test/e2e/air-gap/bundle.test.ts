// A cluster that has only the bundle and a registry of its own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { gatehouseHere as run } from '../../support/cli.ts'
import { chart, helm, helms, helmTest } from '../../support/helm.ts'
import { startRegistry, type TestRegistry } from '../../support/registry.ts'
import { smallRelease, type SmallRelease } from '../../support/small-release.ts'

let release: SmallRelease
let registry: TestRegistry

test.before(async (t) => {
  release = await smallRelease()
  registry = await startRegistry()
  const bundle = path.join(release.scratch, 'bundle.tar')
  await run(['bundle', 'create', release.folder, '--key', release.privateKey, '--output', bundle])
  const { status, stderr } = await run(['bundle', 'load', bundle, '--key', release.publicKey, '--to', `${registry.origin}/mirror`])
  t.is(status, 0, stderr)
})
test.after.always(async () => {
  await registry.close()
  await release.remove()
})

const ours = `
global: { imageRegistry: REGISTRY }
image: { namespace: mirror, tag: RELEASE, digest: DIGEST }
`
/** Values with everything on that is off by default and might bring an image or an address of its own. */
const everything = path.join(chart, 'ci/full-values.yaml')

for (const major of helms)
  helmTest(`Helm ${major} pulls the chart from the registry, and what it renders refers to the bundle alone`, async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-pull-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    const reference = `oci://${registry.host}/mirror/charts/app`
    const pulled = await helm(major, ['pull', reference, '--version', '1.6.0', '--plain-http', '--destination', folder])
    t.is(pulled.code, 0, pulled.stderr)
    const archive = path.join(folder, 'app-1.6.0.tgz')
    t.deepEqual(readFileSync(archive), readFileSync(path.join(release.folder, 'app-1.6.0.tgz')))

    const { digests } = JSON.parse(readFileSync(path.join(release.folder, `${release.version}.lock.json`), 'utf8')) as {
      digests: Record<string, string>
    }
    const digest = digests[`gatehouse:${release.version}`] ?? ''
    const values = path.join(folder, 'values.yaml')
    writeFileSync(values, ours.replace('REGISTRY', registry.host).replace('DIGEST', digest).replace('RELEASE', release.version))
    const rendered = await helm(major, ['template', 'gatehouse', archive, '--values', everything, '--values', values])
    t.is(rendered.code, 0, rendered.stderr)
    // A sidecar of the operator's is the operator's affair.
    const own = readFileSync(everything, 'utf8')
    const images = [...rendered.stdout.matchAll(/\bimage: "?([^"\s]+)"?$/gm)]
      .map(([, image = '']) => image)
      .filter((image) => !own.includes(image))
    t.true(images.length >= 2)
    t.deepEqual([...new Set(images)], [`${registry.host}/mirror/gatehouse:${release.version}@${digest}`])
    t.true(registry.manifests.has(`mirror/gatehouse@${digest}`))
    t.deepEqual(rendered.stdout.match(/https?:\/\/(?!127\.0\.0\.1)[^\s"']+/g) ?? [], [])
  })
