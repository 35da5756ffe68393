import { isFields } from '../../lib/json/fields.ts'
import type { ProviderView } from './provider-view.ts'
import type { Target } from './target.ts'

/** A deployment of a stored Azure account. */
interface Deployment {
  readonly name: string
  readonly version: string
  readonly isDefault: boolean
  /** The model that it serves; null: unknown. */
  readonly model: string | null
  /** The names by which requests may mean it, the most particular first: its alias, its model, its own name. */
  readonly called: readonly unknown[]
}

/** The list of deployments in a stored credential, as JSON. */
const listField = 'azure_deployment_config'

const none: readonly Deployment[] = []
const kept = new WeakMap<ProviderView, readonly Deployment[]>()

/** Returns the deployments of a stored account, the default one first. */
function deploymentsOf(view: ProviderView | null): readonly Deployment[] {
  const text = view?.credential.fields[listField]
  if (view === null || text === undefined) return none
  const held = kept.get(view)
  if (held !== undefined) return held
  const given: unknown = JSON.parse(text)
  const found = Array.isArray(given) ? given.flatMap(deploymentOf) : none
  const made = [...found.filter(({ isDefault }) => isDefault), ...found.filter(({ isDefault }) => !isDefault)]
  kept.set(view, made)
  return made
}

function deploymentOf(given: unknown): readonly Deployment[] {
  if (!isFields(given)) return none
  const { azure_deployment_name: name, azure_api_version: version, azure_model_slug: model, alias, is_default } = given
  if (typeof name !== 'string' || typeof version !== 'string') return none
  return [{ name, version, isDefault: is_default === true, model: typeof model === 'string' ? model : null, called: [alias, model, name] }]
}

/** Returns the deployment that one of these models stands for, the first that stands for any; null: none. */
function deploymentFor({ view }: Target, models: readonly string[]): Deployment | null {
  const deployments = deploymentsOf(view)
  for (const model of models)
    for (const place of [0, 1, 2]) {
      const found = deployments.find(({ called }) => called[place] === model)
      if (found !== undefined) return found
    }
  return null
}

/** Returns true if the model of a request decides which deployment of a stored account serves it. */
export const choosesDeployment = ({ view }: Target): boolean => deploymentsOf(view).length > 1

/** Returns a target at the deployment that one of these models stands for, or else at the default one. */
export function atDeployment(target: Target, models: readonly string[]): Target {
  const deployment = deploymentFor(target, models) ?? deploymentsOf(target.view)[0]
  if (deployment === undefined) return target
  const { key, fields } = target.credential
  const { name, version } = deployment
  return { ...target, credential: { key, fields: { ...fields, azure_deployment_name: name, azure_api_version: version } } }
}

/** Returns the model that the deployment of a target serves, which has the price where neither request nor answer names it; null: unknown. */
export function servedModel({ view, credential }: Target): string | null {
  const name = credential.fields['azure_deployment_name']
  return deploymentsOf(view).find((deployment) => deployment.name === name)?.model ?? null
}

/** Returns the model that a stored credential names for a deployment; null: unknown. */
export function deployedModel({ [listField]: text }: Readonly<Record<string, string>>, name: string): string | null {
  const given: unknown = text === undefined ? null : JSON.parse(text)
  const found = Array.isArray(given) ? given.flatMap(deploymentOf) : none
  return found.find((deployment) => deployment.name === name)?.model ?? null
}

/** Returns the name of the deployment that a model stands for, where it has another one: the v1 API takes it from the body. */
export function deploymentName(target: Target, model: string): string | null {
  const name = deploymentFor(target, [model])?.name ?? null
  return name === model ? null : name
}
