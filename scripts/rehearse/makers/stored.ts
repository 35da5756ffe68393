import type { Making } from '../maker.ts'

/** Stores a credential of the scripted provider and makes a provider of the same slug, in one request or, before 1.11.2, in two. */
export async function storeProvider(
  { workspace, providerUrl, has }: Pick<Making, 'workspace' | 'providerUrl' | 'has'>,
  slug: string,
  more: { readonly configurations?: object } & Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const integration = await workspace.post('/integrations', {
    name: slug,
    // Not the provider's own: since 1.11.2 an integration makes a provider of its slug by default.
    slug: `${slug}-account`,
    ai_provider_id: 'openai',
    key: `sk-${slug}-0123456789`,
    ...(has('1.11.2') && { default_provider_slug: slug }),
    ...more,
    configurations: { custom_host: providerUrl, ...more.configurations },
  })
  if (!has('1.11.2')) await workspace.post('/providers', { name: slug, slug, integration_id: integration.id })
  return integration.slug
}
