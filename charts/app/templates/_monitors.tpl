{{/* The metadata of a monitor beside its name and labels; it may be in a namespace of its own. Takes the root and the values of the monitor. */}}
{{- define "app.monitorMeta" -}}
{{- $root := index . 0 -}}{{- $namespace := (index . 1).namespace | default $root.Values.namespaceOverride -}}
{{- with $namespace }}
namespace: {{ . }}
{{- end }}
{{- with $root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What a monitor scrapes, and how. Takes the root and its values. */}}
{{- define "app.endpoint" -}}
{{- $port := include "app.probePort" (index . 0) -}}{{- $monitor := index . 1 -}}
port: {{ $port }}
path: /metrics
{{- if eq $port "https" }}
scheme: https
{{- end }}
{{- range $name := list "interval" "scrapeTimeout" }}
{{- with get $monitor $name }}
{{ $name }}: {{ . }}
{{- end }}
{{- end }}
{{- if $monitor.honorLabels }}
honorLabels: true
{{- end }}
{{- range $name := list "tlsConfig" "authorization" "relabelings" "metricRelabelings" }}
{{- with get $monitor $name }}
{{ $name }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
