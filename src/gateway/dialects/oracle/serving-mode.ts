import type { Fields } from '../../../lib/json/fields.ts'
import type { Traits } from '../traits.ts'

/** Returns the fields of every request: whose account pays, and where the model runs. Endpoints of one's own are dedicated. */
export function servingFields(model: string, { settings }: Traits): Fields {
  const { oracle_compartment_id: compartment = '', oracle_tenancy: tenancy = '', oracle_serving_mode: mode = '' } = settings
  const isDedicated = mode.toUpperCase() === 'DEDICATED' || model.startsWith('ocid1.generativeaiendpoint')
  return {
    // The compartment at the root of a tenancy has its id.
    compartmentId: compartment || tenancy,
    servingMode: isDedicated ? { servingType: 'DEDICATED', endpointId: model } : { servingType: 'ON_DEMAND', modelId: model },
  }
}
