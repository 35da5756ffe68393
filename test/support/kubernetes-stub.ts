import { once } from 'node:events'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** As much of a Kubernetes API as `helm template --dry-run=server` asks for: `lookup` finds these objects only. */
export interface KubernetesStub {
  readonly kubeconfig: string
  /** The texts in each Secret, by `namespace/name`. */
  readonly secrets: Map<string, Readonly<Record<string, string>>>
  /** Objects by their path, such as `/apis/apps/v1/namespaces/NAMESPACE/statefulsets/NAME`. */
  readonly objects: Map<string, object>
  close(): Promise<void>
}

/** The kinds that a plain installation has, by the version of their group. */
const served: Readonly<Record<string, readonly string[]>> = {
  v1: ['Secret', 'Service', 'ServiceAccount', 'Pod'],
  'apps/v1': ['Deployment', 'StatefulSet'],
  'batch/v1': ['Job'],
  'policy/v1': ['PodDisruptionBudget'],
}

const resource = (kind: string) => ({
  name: `${kind.toLowerCase()}s`,
  singularName: kind.toLowerCase(),
  namespaced: true,
  kind,
  verbs: ['get', 'list'],
})
const resources = (groupVersion: string, kinds: readonly string[]) => ({
  kind: 'APIResourceList',
  groupVersion,
  resources: kinds.map(resource),
})
const groups = Object.keys(served).filter((groupVersion) => groupVersion !== 'v1')

const answers: Readonly<Record<string, unknown>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] },
  '/apis': {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: groups.map((groupVersion) => {
      const preferredVersion = { groupVersion, version: 'v1' }
      return { name: groupVersion.split('/')[0], versions: [preferredVersion], preferredVersion }
    }),
  },
  ...Object.fromEntries(
    Object.entries(served).map(([name, kinds]) => [name === 'v1' ? '/api/v1' : `/apis/${name}`, resources(name, kinds)]),
  ),
}

/** Starts the stub on a free port of this machine, as Kubernetes 1.MINOR. */
export async function startKubernetesStub(minor = 34): Promise<KubernetesStub> {
  const secrets: KubernetesStub['secrets'] = new Map()
  const others: KubernetesStub['objects'] = new Map()
  const find = (url: string): unknown => {
    const other = others.get(url)
    if (other !== undefined) return other
    if (url === '/version') return { major: '1', minor: String(minor), gitVersion: `v1.${minor}.1` }
    const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/secrets\/([^/]+)$/.exec(url) ?? []
    const held = secrets.get(`${namespace}/${name}`)
    if (held === undefined) return answers[url]
    const data = Object.fromEntries(Object.entries(held).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data }
  }
  const server = createServer(({ url = '/' }, response) => {
    const found = find(url.split('?')[0] ?? url)
    const body = found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const kubeconfig = path.join(await mkdtemp(path.join(tmpdir(), 'gatehouse-kube-')), 'config')
  const { port } = server.address() as AddressInfo
  await writeFile(kubeconfig, kubeconfigFor(`http://127.0.0.1:${port}`))
  return {
    kubeconfig,
    secrets,
    objects: others,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** A kubeconfig for one server; `user` has the credential, if there is one. */
export const kubeconfigFor = (server: string, user: object = {}, cluster: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, ...cluster } }],
    users: [{ name: 'test', user }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  })
