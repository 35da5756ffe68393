import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { root, type KubernetesObject } from '../helm.ts'

const modules: Readonly<Record<string, string>> = {
  v1: 'kubernetes-types/core/v1',
  'apps/v1': 'kubernetes-types/apps/v1',
  'batch/v1': 'kubernetes-types/batch/v1',
  'policy/v1': 'kubernetes-types/policy/v1',
  'autoscaling/v2': 'kubernetes-types/autoscaling/v2',
  'networking.k8s.io/v1': 'kubernetes-types/networking/v1',
  'autoscaling.k8s.io/v1': 'custom',
  'cert-manager.io/v1': 'custom',
  'external-secrets.io/v1': 'custom',
  'keda.sh/v1alpha1': 'custom',
  'monitoring.coreos.com/v1': 'custom',
  'gateway.networking.k8s.io/v1': 'custom',
}

/**
 * The compiler's faults of objects as literals of their Kubernetes types: unknown fields, missing ones, wrong types. Empty: none. It names one fault
 * of an object at a time.
 */
export async function typeFaults(objects: readonly KubernetesObject[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-types-'))
  try {
    await writeFile(path.join(folder, 'objects.ts'), source(objects))
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const compiler = spawn(path.join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], { cwd: folder })
    const [out, err] = await Promise.all([text(compiler.stdout), text(compiler.stderr)])
    return out + err
  } finally {
    await rm(folder, { recursive: true })
  }
}

const settings = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: 'esnext',
    module: 'esnext',
    moduleResolution: 'bundler',
    types: [],
    skipLibCheck: true,
    paths: {
      'kubernetes-types/*.d.ts': [path.join(root, 'node_modules/kubernetes-types/*.d.ts')],
      'kubernetes-types/*': [path.join(root, 'node_modules/kubernetes-types/*')],
      custom: [path.join(root, 'test/support/kubernetes/custom.d.ts')],
    },
  },
  files: ['objects.ts'],
}

function source(objects: readonly KubernetesObject[]): string {
  const lines = objects.map((object, at) => {
    const from = modules[object.apiVersion]
    if (from === undefined) throw new Error(`no types are known of ${object.apiVersion} ${object.kind}`)
    return `export const o${at}: import('${from}').${object.kind} = ${JSON.stringify(object)}`
  })
  return lines.join('\n')
}
