{{/* Which of the values that ask for something have no effect: {"refused": [...], "told": [...]}, a sentence each. */}}
{{- define "kube-ovn.noEffect" -}}
{{- $refused := list -}}
{{- $told := list -}}
{{- range .Files.Get "files/no-effect.yaml" | fromYamlArray -}}
{{- $given := $.Values -}}
{{- range splitList "." .value -}}
{{- if kindIs "map" $given -}}{{- $given = get $given . -}}{{- else -}}{{- $given = "" -}}{{- end -}}
{{- end -}}
{{- $text := toJson $given -}}
{{- if and $given (ne (toString $given) (toString .quiet)) (ne (toString $given) "false") -}}
{{- $line := printf "%s=%s has no effect: %s" .value (trunc 80 $text) .says -}}
{{- if .refused -}}{{- $refused = append $refused $line -}}{{- else -}}{{- $told = append $told $line -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "refused" $refused "told" $told | toJson -}}
{{- end -}}

{{/* Values that nobody may believe to have an effect are refused. */}}
{{- define "kube-ovn.refuseNoEffect" -}}
{{- with (include "kube-ovn.noEffect" . | fromJson).refused -}}
{{- fail (join "; " .) -}}
{{- end -}}
{{- end -}}
