import type { HorizontalPodAutoscalerBehavior } from 'kubernetes-types/autoscaling/v2.d.ts'
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts'

// The objects of other operators that the chart renders, as far as it renders them (the versions that have been stable for years).

export interface ServiceMonitor {
  apiVersion: 'monitoring.coreos.com/v1'
  kind: 'ServiceMonitor'
  metadata: ObjectMeta
  spec: {
    namespaceSelector?: { any?: boolean; matchNames?: string[] }
    selector: { matchLabels?: Record<string, string> }
    endpoints: Endpoint[]
  }
}

export interface PodMonitor {
  apiVersion: 'monitoring.coreos.com/v1'
  kind: 'PodMonitor'
  metadata: ObjectMeta
  spec: {
    namespaceSelector?: { any?: boolean; matchNames?: string[] }
    selector: { matchLabels?: Record<string, string> }
    podMetricsEndpoints: Endpoint[]
  }
}

interface Endpoint {
  port?: string
  path?: string
  interval?: string
  scrapeTimeout?: string
  scheme?: 'http' | 'https'
  tlsConfig?: { ca?: object; serverName?: string; insecureSkipVerify?: boolean }
  authorization?: { type?: string; credentials?: { name: string; key: string } }
  honorLabels?: boolean
  relabelings?: Relabeling[]
  metricRelabelings?: Relabeling[]
}

export interface ScaledObject {
  apiVersion: 'keda.sh/v1alpha1'
  kind: 'ScaledObject'
  metadata: ObjectMeta
  spec: {
    scaleTargetRef: { apiVersion?: string; kind?: string; name: string }
    minReplicaCount?: number
    maxReplicaCount?: number
    pollingInterval?: number
    cooldownPeriod?: number
    advanced?: { horizontalPodAutoscalerConfig?: { behavior?: HorizontalPodAutoscalerBehavior } }
    triggers: { type: string; metricType?: 'Utilization' | 'AverageValue' | 'Value'; metadata: Record<string, string> }[]
  }
}

interface Relabeling {
  action?: string
  sourceLabels?: string[]
  targetLabel?: string
  regex?: string
  replacement?: string
}

export interface PrometheusRule {
  apiVersion: 'monitoring.coreos.com/v1'
  kind: 'PrometheusRule'
  metadata: ObjectMeta
  spec: {
    groups: {
      name: string
      rules: Rule[]
    }[]
  }
}

interface Rule {
  alert?: string
  record?: string
  expr: string
  for?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

export interface Certificate {
  apiVersion: 'cert-manager.io/v1'
  kind: 'Certificate'
  metadata: ObjectMeta
  spec: {
    secretName: string
    issuerRef: { name: string; kind?: string; group?: string }
    dnsNames?: string[]
    duration?: string
    renewBefore?: string
    privateKey?: { algorithm?: 'RSA' | 'ECDSA' | 'Ed25519'; size?: number; rotationPolicy?: 'Always' | 'Never' }
  }
}

export interface ExternalSecret {
  apiVersion: 'external-secrets.io/v1'
  kind: 'ExternalSecret'
  metadata: ObjectMeta
  spec: {
    refreshInterval?: string
    secretStoreRef?: { name: string; kind?: 'SecretStore' | 'ClusterSecretStore' }
    target?: { name?: string; creationPolicy?: 'Owner' | 'Orphan' | 'Merge' | 'None' }
    data?: { secretKey: string; remoteRef: { key: string; property?: string; version?: string } }[]
    dataFrom?: { extract?: { key: string } }[]
  }
}

export interface VerticalPodAutoscaler {
  apiVersion: 'autoscaling.k8s.io/v1'
  kind: 'VerticalPodAutoscaler'
  metadata: ObjectMeta
  spec: {
    targetRef: { apiVersion: string; kind: string; name: string }
    updatePolicy?: { updateMode?: 'Off' | 'Initial' | 'Recreate' | 'InPlaceOrRecreate' | 'Auto' }
    resourcePolicy?: {
      containerPolicies: {
        containerName: string
        controlledResources?: ('cpu' | 'memory')[]
        minAllowed?: Record<string, string>
        maxAllowed?: Record<string, string>
      }[]
    }
  }
}

export interface HTTPRoute {
  apiVersion: 'gateway.networking.k8s.io/v1'
  kind: 'HTTPRoute'
  metadata: ObjectMeta
  spec: {
    parentRefs?: { group?: string; kind?: string; name: string; namespace?: string; sectionName?: string; port?: number }[]
    hostnames?: string[]
    rules?: {
      matches?: { path?: { type?: 'Exact' | 'PathPrefix' | 'RegularExpression'; value?: string } }[]
      filters?: { type: string; requestHeaderModifier?: { add?: Header[]; set?: Header[]; remove?: string[] } }[]
      timeouts?: { request?: string; backendRequest?: string }
      backendRefs?: { name: string; port?: number; weight?: number }[]
    }[]
  }
}

interface Header {
  name: string
  value: string
}
