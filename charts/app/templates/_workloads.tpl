{{/* The workloads that serve, each with its roles: a role that has no workload of its own is the server's. As JSON below `list`. */}}
{{- define "app.workloads" -}}
{{- $shared := list -}}{{- $workloads := list -}}{{- $fullname := include "app.fullname" . -}}
{{- range $role := list "gateway" "control" "jobs" -}}
{{-   $own := get $.Values $role | default dict -}}
{{-   if $own.enabled -}}
{{-     $workloads = append $workloads (dict "component" $role "name" (printf "%s-%s" $fullname $role) "roles" (list $role) "values" $own) -}}
{{-   else -}}
{{-     $shared = append $shared $role -}}
{{-   end -}}
{{- end -}}
{{- if $shared -}}
{{-   $workloads = prepend $workloads (dict "component" "server" "name" $fullname "roles" $shared "values" (.Values.server | default dict)) -}}
{{- end -}}
{{- $list := list -}}
{{- range $workloads -}}
{{-   $journal := has "gateway" .roles -}}
{{-   $persists := and $journal (($.Values.persistence).enabled | default false) -}}
{{-   $claim := ternary (($.Values.persistence).existingClaim | default "") "" $persists -}}
{{-   $claims := and $persists (not $claim) -}}
{{-   $scales := (.values.autoscaling).enabled | default false -}}
{{-   $least := ternary ((.values.autoscaling).minReplicas | default 1) (.values.replicas | default 0) $scales -}}
{{-   $list = append $list (merge . (dict "journal" $journal "claim" $claim "kind" (ternary "StatefulSet" "Deployment" $claims) "scales" $scales "least" $least)) -}}
{{- end -}}
{{- dict "list" $list | toJson -}}
{{- end }}

{{/*
The StatefulSet of a workload that is in the cluster already, as JSON; an empty map: there is none, or there is no cluster to ask. Kubernetes
never changes its claims, its service and, before 1.33, the length of its history. So values decide about these only where it is created.
Takes the root and the workload.
*/}}
{{- define "app.kept" -}}
{{- $root := index . 0 -}}{{- $workload := index . 1 -}}
{{- if eq $workload.kind "StatefulSet" -}}
{{- lookup "apps/v1" "StatefulSet" (include "app.namespace" $root) $workload.name | default dict | toJson -}}
{{- else -}}
{}
{{- end -}}
{{- end }}

{{/* The size of the volumes that values ask for. */}}
{{- define "app.claimSize" -}}
{{- (.Values.persistence).size | default (printf "%sMi" (mul 2 (include "app.spoolMi" .) | toString)) -}}
{{- end }}

{{/* The Mi that the data takes on the node without volumes. */}}
{{- define "app.dataMi" -}}
{{- if .Values.dataSize }}{{ include "app.mi" .Values.dataSize }}{{ else }}{{ mul 2 (include "app.spoolMi" .) }}{{ end -}}
{{- end }}

{{/* The size of the volumes that new pods get from a StatefulSet that is in the cluster; empty: values decide. Takes the root and the workload. */}}
{{- define "app.keptSize" -}}
{{- range ((include "app.kept" . | fromJson).spec | default dict).volumeClaimTemplates -}}
{{- if eq .metadata.name "data" }}{{ .spec.resources.requests.storage }}{{ end -}}
{{- end -}}
{{- end }}

{{/* The bytes of a quantity such as 2Gi: an API server writes 2048Mi so. */}}
{{- define "app.bytes" -}}
{{- $powers := dict "Ki" 1 "Mi" 2 "Gi" 3 "Ti" 4 "Pi" 5 "k" 1 "M" 2 "G" 3 "T" 4 "P" 5 -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- $bytes := trimSuffix $unit . | float64 -}}
{{- range until (get $powers $unit | default 0 | int) -}}
{{- $bytes = mulf $bytes (ternary 1024 1000 (hasSuffix "i" $unit)) -}}
{{- end -}}
{{- printf "%.0f" $bytes -}}
{{- end }}

{{/* A workload to run a command in. */}}
{{- define "app.anyPod" -}}
{{- with first (include "app.workloads" . | fromJson).list -}}
{{ lower .kind }}/{{ .name }}
{{- end -}}
{{- end }}

{{/* Whether data plane and control plane are served by different pods; empty: by the same. */}}
{{- define "app.split" -}}
{{- if or (.Values.gateway).enabled (.Values.control).enabled }}true{{ end -}}
{{- end }}

{{/* The pod template of a workload. Takes a dict of root and workload. */}}
{{- define "app.podTemplate" -}}
{{- $root := .root -}}{{- $workload := .workload -}}{{- $values := $workload.values -}}
metadata:
  labels:
    {{- include "app.selector" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $workload.component }}
    role.gatehouse/serves: "true"
    {{- range $workload.roles }}
    role.gatehouse/{{ . }}: "true"
    {{- end }}
    {{- with merge (dict) ($values.podLabels | default dict) ($root.Values.podLabels | default dict) ($root.Values.commonLabels | default dict) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with merge (dict) ($values.podAnnotations | default dict) ($root.Values.podAnnotations | default dict) }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "app.serviceAccount" $root }}
  {{- include "app.podSettings" (dict "root" $root "own" $values) | nindent 2 }}
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds | default (include "app.neededGrace" $root) | int64 }}
  {{- with $values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
  {{- with $values.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
  {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "app.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $workload.component }}
  {{- end }}
  {{- with $root.Values.extraInitContainers }}
  initContainers: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    {{- $diagnostic := $root.Values.diagnosticMode | default dict }}
    {{- $command := ternary $diagnostic.command $root.Values.command ($diagnostic.enabled | default false) }}
    {{- $args := ternary ($diagnostic.args | default list) (concat (list "serve") ($values.extraArgs | default list)) ($diagnostic.enabled | default false) }}
    - {{ include "app.container" (dict "root" $root "name" "gatehouse" "command" $command "args" $args "roles" $workload.roles "resources" $values.resources "securityContext" $values.securityContext) | nindent 6 | trim }}
      ports:
        - name: {{ include "app.portName" $root }}
          containerPort: {{ include "app.port" $root | int }}
          protocol: TCP
        {{- with include "app.setting" (list $root "MANAGEMENT_PORT" "") }}
        - name: management
          containerPort: {{ int . }}
          protocol: TCP
        {{- end }}
      {{- if not $diagnostic.enabled }}
      {{- range $probe, $path := dict "startupProbe" "/healthz" "livenessProbe" "/healthz" "readinessProbe" "/readyz" }}
      {{- $times := get ($root.Values.probes | default dict) (trimSuffix "Probe" $probe) | default dict }}
      {{ $probe }}:
        httpGet:
          path: {{ $path }}
          port: {{ include "app.probePort" $root }}
          {{- if eq (include "app.probePort" $root) "https" }}
          scheme: HTTPS
          {{- end }}
        {{- range $name, $otherwise := dict "periodSeconds" 5 "timeoutSeconds" 3 "failureThreshold" (ternary 60 3 (eq $probe "startupProbe")) }}
        {{ $name }}: {{ get $times $name | default $otherwise | int }}
        {{- end }}
      {{- end }}
      {{- end }}
      {{- with $root.Values.lifecycle }}
      lifecycle: {{- toYaml . | nindent 8 }}
      {{- end }}
    {{- with concat ($root.Values.extraContainers | default list) ($values.extraContainers | default list) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
    {{- $dataMi := 64 }}
    {{- if $workload.journal }}{{ $dataMi = ternary 0 (include "app.dataMi" $root | int) (eq $workload.kind "StatefulSet") }}{{ end }}
    {{- include "app.volumes" (dict "root" $root "dataMi" $dataMi "claim" $workload.claim) | trim | nindent 4 }}
{{- end }}
