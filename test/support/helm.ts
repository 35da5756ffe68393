import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestFn } from 'ava'
import type { Deployment, StatefulSet } from 'kubernetes-types/apps/v1.d.ts'
import type { HorizontalPodAutoscaler } from 'kubernetes-types/autoscaling/v2.d.ts'
import type { Job } from 'kubernetes-types/batch/v1.d.ts'
import type { ConfigMap, Container, Pod, PodSpec, Secret, Service, ServiceAccount } from 'kubernetes-types/core/v1.d.ts'
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts'
import type { Ingress, NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts'
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts'
import { parse, parseAllDocuments } from 'yaml'
import type { HTTPRoute, PrometheusRule, ServiceMonitor } from './kubernetes/custom.d.ts'
import { provideHelm, type HelmMajor } from '../../scripts/helm.ts'

export { helms, type HelmMajor } from '../../scripts/helm.ts'

export const root = path.resolve(import.meta.dirname, '../..')
export const chart = path.join(root, 'charts/app')

/** The kinds that the chart renders. */
interface Kinds {
  Deployment: Deployment
  StatefulSet: StatefulSet
  Job: Job
  Pod: Pod
  Service: Service
  Secret: Secret
  ServiceAccount: ServiceAccount
  ConfigMap: ConfigMap
  Ingress: Ingress
  NetworkPolicy: NetworkPolicy
  PodDisruptionBudget: PodDisruptionBudget
  HorizontalPodAutoscaler: HorizontalPodAutoscaler
  ServiceMonitor: ServiceMonitor
  PrometheusRule: PrometheusRule
  HTTPRoute: HTTPRoute
}

/** Any object, as far as all are alike. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta & { readonly name: string }
}

export interface Answer {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

const provided = await provideHelm()
/** A folder for this process, which goes with it. */
export const scratch: string = await mkdtemp(path.join(tmpdir(), 'gatehouse-helm-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** Prints the skipped tests, where they cannot be overlooked. */
export const skipLoudly = (what: string, why: string): void => console.error(`SKIPPED: ${what}, because ${why}`)

if ('missing' in provided) skipLoudly('every test that needs Helm', provided.missing)

/** `test`, and a test that counts as skipped on machines where Helm cannot be had. */
export const helmTest: TestFn = 'missing' in provided ? (test.skip as TestFn) : test

/** The path of a Helm. */
export const helmProgram = (major: HelmMajor): string => ('missing' in provided ? '' : provided[major])

let running = 0
const waiting: (() => void)[] = []

/** Runs Helm, two at once at most, without any configuration of the machine. Half of its short life would go into collecting garbage. */
export async function helm(
  major: HelmMajor,
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv; wrap?: readonly string[] } = {},
): Promise<Answer> {
  if ('missing' in provided) throw new Error(provided.missing)
  if (running >= 2) await new Promise<void>((resolve) => waiting.push(resolve))
  running++
  try {
    const from = performance.now()
    const [program = '', ...first] = (options.wrap ?? []).concat(provided[major])
    const child = spawn(program, [...first, ...args], {
      env: { PATH: process.env['PATH'], HOME: scratch, GOGC: 'off', KUBECONFIG: path.join(scratch, 'none'), ...options.env },
    })
    child.stdin.end(options.input ?? '')
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number>((resolve, reject) => child.once('error', reject).once('close', (status) => resolve(status ?? -1))),
    ])
    return { code, stdout, stderr, ms: performance.now() - from }
  } finally {
    running--
    waiting.shift()?.()
  }
}

/** Makes something when it is first asked for. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** The files of `ci/`, each a whole set of values. */
export const ciFiles: readonly string[] = readdirSync(path.join(chart, 'ci')).toSorted()
export const ciValues = (file: string): Readonly<Record<string, unknown>> =>
  parse(readFileSync(path.join(chart, 'ci', file), 'utf8')) as Record<string, unknown>

/** The least values that render. */
export const minimal = ciValues('minimal-values.yaml')

export interface Rendering {
  readonly values?: Readonly<Record<string, unknown>>
  readonly args?: readonly string[]
  readonly from?: string
  readonly env?: NodeJS.ProcessEnv
  readonly wrap?: readonly string[]
}

/** `helm template`, with the values on standard input. */
export const template = (major: HelmMajor, { values = minimal, args = [], from = chart, ...more }: Rendering = {}): Promise<Answer> =>
  helm(major, ['template', 'gatehouse', from, '--namespace', 'ai', '--values', '-', ...args], { input: JSON.stringify(values), ...more })

/** The rendered objects; throws Helm's message when it refuses. */
export async function objects(major: HelmMajor, rendering: Rendering = {}): Promise<readonly KubernetesObject[]> {
  const { code, stdout, stderr } = await template(major, rendering)
  if (code !== 0) throw new Error(stderr)
  return parseObjects(stdout)
}

export const parseObjects = (manifest: string): readonly KubernetesObject[] =>
  parseAllDocuments(manifest).flatMap((document) => (document.contents === null ? [] : [document.toJS() as KubernetesObject]))

/** The objects of a kind. */
export const ofKind = <K extends keyof Kinds>(list: readonly KubernetesObject[], kind: K): readonly (Kinds[K] & KubernetesObject)[] =>
  list.filter((object) => object.kind === kind) as readonly KubernetesObject[] as readonly (Kinds[K] & KubernetesObject)[]

/** The first object of a kind; throws when there is none. */
export function oneOf<K extends keyof Kinds>(list: readonly KubernetesObject[], kind: K): Kinds[K] & KubernetesObject {
  const [first] = ofKind(list, kind)
  if (first === undefined) throw new Error(`no ${kind} was rendered`)
  return first
}

/** A pod, as far as tests look at it. */
export interface RenderedPod {
  readonly labels: Readonly<Record<string, string>>
  readonly spec: PodSpec
  /** The first container, and its environment. */
  readonly container: Container
  readonly env: Readonly<Record<string, string>>
}

/** An object's own labels for its pods; null: it has none. */
export function podOf(object: KubernetesObject): RenderedPod | null {
  const { metadata, spec } = object.kind === 'Pod' ? (object as Pod) : ((object as Deployment).spec?.template ?? {})
  const [container] = spec?.containers ?? []
  if (spec === undefined || container === undefined) return null
  return {
    labels: metadata?.labels ?? {},
    spec,
    container,
    env: Object.fromEntries((container.env ?? []).map(({ name, value = '' }) => [name, value])),
  }
}

/** The pods of all objects that have any. */
export const podsOf = (list: readonly KubernetesObject[]): readonly (RenderedPod & { readonly of: string })[] =>
  list.flatMap((object) => {
    const pod = podOf(object)
    return pod === null ? [] : [{ of: `${object.kind} ${object.metadata.name}`, ...pod }]
  })

/** The pod of the only Deployment. */
export function serverPod(list: readonly KubernetesObject[]): RenderedPod {
  const pod = podOf(oneOf(list, 'Deployment'))
  if (pod === null) throw new Error('the Deployment has no container')
  return pod
}

/** The minimal values with others laid over them, deep. */
export function withValues(
  over: Readonly<Record<string, unknown>>,
  under: Readonly<Record<string, unknown>> = minimal,
): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = under[key]
    merged[key] = isMap(value) && isMap(below) ? withValues(value, below) : value
  }
  return merged
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
