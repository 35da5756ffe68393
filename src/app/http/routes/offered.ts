import { egressFor } from '../../../gateway/ports/egress-making.ts'
import { offeredModels } from '../../../gateway/ports/models.ts'
import type { Actor, ListModels } from '../../route.ts'
import type { FrameServices } from '../frame.ts'

/** Returns how a handler lists the models of a workspace of its caller's organisation. */
export const offeredBy =
  ({ organisationId }: Pick<Actor, 'organisationId'>, { deps, snapshot }: FrameServices): ListModels =>
  ({ workspaceId, allowedHosts }) =>
    offeredModels(
      {
        snapshot,
        prices: deps.catalogue.prices,
        ready: async (provider) =>
          void (await Promise.all([deps.catalogue.ready('pricing', provider), deps.catalogue.ready('general', provider)])),
        signing: deps.signing,
        egress: egressFor(deps.egress, { organisationId, allowedHosts }),
      },
      { organisationId, workspaceId },
    )
