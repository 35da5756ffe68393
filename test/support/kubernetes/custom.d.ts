import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts'

// The objects of other operators that the chart renders, as far as it renders them (the versions that have been stable for years).

export interface ServiceMonitor {
  apiVersion: 'monitoring.coreos.com/v1'
  kind: 'ServiceMonitor'
  metadata: ObjectMeta
  spec: {
    selector: { matchLabels?: Record<string, string> }
    endpoints: {
      port?: string
      path?: string
      interval?: string
      scrapeTimeout?: string
      relabelings?: Relabeling[]
      metricRelabelings?: Relabeling[]
    }[]
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
      rules: { alert: string; expr: string; for?: string; labels?: Record<string, string>; annotations?: Record<string, string> }[]
    }[]
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
