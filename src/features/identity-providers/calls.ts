import type { SmallRequest } from '../../gateway/ports/egress.ts'
import type { Provider } from './provider-facts.ts'

/** Returns how a provider is called: the operator's own settings need no leave of ALLOWED_CUSTOM_HOSTS, and its certificate may be of its own authority. */
export const callsTo = ({ source, ca }: Pick<Provider, 'source' | 'ca'>): Pick<SmallRequest, 'named' | 'ca'> => ({
  named: source === 'settings' ? 'by catalogue' : 'by data',
  ca: ca ?? undefined,
})
