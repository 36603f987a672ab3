# Judges manifests: espalier show --resolved espalier.yaml --format json > resolved.json && conftest test --policy policy resolved.json
package main

import rego.v1

deny contains message if {
	some document in object.get(input, "documents", [])
	some name, branch in document.branches
	some replica in branch.replicas
	size := replica.attributes.size.value
	primary := branch.primary.attributes.size.value
	is_number(size)
	is_number(primary)
	size > primary
	message := sprintf("%s: a replica of %s is larger than its primary", [document.project, name])
}
