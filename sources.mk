# Every source of the library, by layer. One line each: additions merge cleanly.
LIB_SRCS := \
	src/base/caps.c \
	src/base/fail.c \
	src/base/hash_index.c \
	src/base/intern.c \
	src/base/io.c \
	src/base/nearest.c \
	src/base/opt.c \
	src/base/opt_help.c \
	src/base/opt_values.c \
	src/base/worker.c \
	src/model/record.c \
	src/elf/elf_image.c \
	src/symbolize/debug_files.c \
	src/symbolize/demangle.c \
	src/symbolize/elf_symbols.c \
	src/symbolize/go_symbols.c \
	src/symbolize/kernel_regions.c \
	src/symbolize/kernel_symbols.c \
	src/symbolize/plt_symbols.c \
	src/symbolize/symbol_set.c \
	src/symbolize/symbolizer.c \
	unwind/unwind_table.c \
	unwind/host_walk.c \
	unwind/cfi_program.c \
	unwind/cfi.c \
	src/capture/wire_decode.c \
	src/capture/unwind_loader.c \
	src/capture/task_snapshot.c \
	src/capture/task_events.c \
	src/capture/session_meta.c \
	src/capture/session.c \
	src/capture/recorder.c \
	src/capture/procfs.c \
	src/capture/process_tracker.c \
	src/capture/perf_sampler.c \
	src/capture/losses.c \
	src/capture/definitions.c \
	src/capture/cpus.c \
	src/capture/capture_bpf.c \
	src/capture/binary_table.c \
	src/capture/binary_store.c \
	src/model/stacks.c \
	src/model/process.c \
	src/model/binary.c \
	formats/trace/chunk_decoder.c \
	formats/trace/chunk_encoder.c \
	formats/trace/chunk_finder.c \
	formats/trace/crc32c.c \
	formats/trace/record_codec.c \
	formats/trace/sample_columns.c \
	formats/trace/trace_layout.c \
	formats/trace/trace_output.c \
	formats/trace/trace_reader.c \
	formats/trace/trace_source.c \
	formats/trace/trace_tables.c \
	formats/trace/trace_writer.c \
	src/model/tables.c \
	src/profile/fold.c \
	src/profile/profile.c \
	src/profile/query.c \
	src/profile/receipts.c \
	src/profile/report.c \
	src/profile/report_text.c \
	src/profile/sample_counts.c \
	src/profile/stack_note.c \
	src/profile/tree_builder.c \
	src/profile/wall_clock.c \
	formats/render/escape.c \
	formats/render/layout.c \
	formats/render/text.c \
	formats/render/text_cache.c \
	formats/render/renderers.c \
	formats/render/json_writer.c \
	formats/render/json.c \
	formats/render/csv.c \
	formats/render/collapse.c \
	formats/render/svg.c \
	formats/render/svg_text.c \

MAIN_SRCS := \
	src/main.c \
	src/commands.c \
	src/stop_signals.c \
	src/target_command.c \
	src/live_line.c \
	src/recording.c \
	src/cmd_snapshot.c \
	src/cmd_sample.c \
	src/output_list.c \
	src/cmd_report.c \
	src/cmd_info.c \
	src/info_sections.c \
	src/cmd_doctor.c \
	src/doctor_bpf.c \
	src/doctor_system.c \

ASSETS := \
	formats/render/assets/flame.css \
	formats/render/assets/flame.js \

# Files that include the BPF skeleton.
SKEL_USERS := \
	src/capture/capture_bpf.c \

