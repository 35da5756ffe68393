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

{{/* What a monitor scrapes, and how. Takes its values. */}}
{{- define "app.endpoint" -}}
port: http
path: /metrics
{{- range $name := list "interval" "scrapeTimeout" }}
{{- with get $ $name }}
{{ $name }}: {{ . }}
{{- end }}
{{- end }}
{{- if .honorLabels }}
honorLabels: true
{{- end }}
{{- range $name := list "relabelings" "metricRelabelings" }}
{{- with get $ $name }}
{{ $name }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
